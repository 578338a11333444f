#include "session/print_object.hpp"

#include "model/objects.hpp"
#include "text/yaml.hpp"

namespace liqoctl {

void print_object(Session& session, const Object& object) {
  session.output().print(session.flags().output == Format::json ? text::pretty_json(object.tree())
                                                                : text::yaml(object.tree()));
}

void print_objects(Session& session, const std::vector<Object>& objects) {
  if (objects.size() == 1) {
    print_object(session, objects.front());
    return;
  }
  if (session.flags().output == Format::json) {
    kube::json::array items;
    for (const Object& object : objects) items.push_back(object.tree());
    session.output().print(text::pretty_json(model::forge_list(std::move(items))));
    return;
  }
  for (const Object& object : objects) session.output().print("---\n" + text::yaml(object.tree()));
}

}  // namespace liqoctl
