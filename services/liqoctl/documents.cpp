#include "documents.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

#include "kube/wire/yaml.hpp"
#include "model/advice.hpp"

namespace liqoctl {
namespace {

kube::Result<std::vector<kube::json::value>> read_from(std::istream& stream, const std::string& path) {
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) return kube::fail(kube::Errc::missing, model::unreadable(path));
  auto documents = kube::wire::read_yaml(text.str());
  if (!documents) return kube::fail(std::move(documents.error()), path);
  return documents;
}

}  // namespace

kube::Result<std::vector<kube::json::value>> read_documents(const std::string& path) {
  std::ifstream file(path);
  return read_from(file, path);
}

kube::Result<std::vector<kube::json::value>> read_documents_or_input(const std::string& path) {
  return path == "-" ? read_from(std::cin, path) : read_documents(path);
}

}  // namespace liqoctl
