#include "session/documents.hpp"

#include <array>
#include <fstream>
#include <string>

#include "kube/wire/yaml.hpp"
#include "model/advice.hpp"

namespace liqoctl {
namespace {

kube::Result<std::vector<kube::json::value>> read_from(std::istream& stream, const std::string& path) {
  std::string text;
  std::array<char, 4096> part{};
  while (stream) {
    stream.read(part.data(), part.size());
    text.append(part.data(), std::size_t(stream.gcount()));
  }
  // Neither a missing file nor a directory can be read to its end.
  if (!stream.eof()) return kube::fail(kube::Errc::missing, model::unreadable(path));
  auto documents = kube::wire::read_yaml(text);
  if (!documents) return kube::fail(std::move(documents.error()), path);
  return documents;
}

}  // namespace

kube::Result<std::vector<kube::json::value>> read_documents(const std::string& path) {
  std::ifstream file(path);
  return read_from(file, path);
}

kube::Result<std::vector<kube::json::value>> read_documents_or_input(const std::string& path, std::istream& input) {
  return path == "-" ? read_from(input, path) : read_documents(path);
}

}  // namespace liqoctl
