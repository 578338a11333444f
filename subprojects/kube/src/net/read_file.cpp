#include "kube/net/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace kube::net {
namespace {

std::unexpected<Failure> cannot_read(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) return fail(Errc::missing, "there is no file " + path);
  return fail(Errc::invalid_input, path + " cannot be read: " + std::generic_category().message(error));
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return cannot_read(path, errno);
  std::string text;
  char buffer[8192];
  ssize_t count = 0;
  while (text.size() <= max_bytes && (count = ::read(file, buffer, sizeof(buffer))) > 0)
    text.append(buffer, static_cast<std::size_t>(count));
  const int error = count < 0 ? errno : 0;
  ::close(file);
  if (error != 0) return cannot_read(path, error);
  if (text.size() > max_bytes)
    return fail(Errc::too_large, path + " is larger than " + std::to_string(max_bytes >> 20) + " MiB");
  return text;
}

}  // namespace kube::net
