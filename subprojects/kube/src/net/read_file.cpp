#include "kube/net/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace kube::net {

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  char buffer[8192];
  ssize_t count = file < 0 ? -1 : 0;
  while (file >= 0 && (count = ::read(file, buffer, sizeof(buffer))) > 0 && text.size() <= max_bytes)
    text.append(buffer, static_cast<std::size_t>(count));
  const int error = count < 0 ? errno : 0;
  if (file >= 0) ::close(file);
  if (error == ENOENT || error == ENOTDIR) return fail(Errc::missing, "there is no file " + path);
  if (error != 0) return fail(Errc::invalid_input, path + " cannot be read: " + std::generic_category().message(error));
  if (text.size() > max_bytes)
    return fail(Errc::too_large, path + " is larger than " + std::to_string(max_bytes >> 20) + " MiB");
  return text;
}

}  // namespace kube::net
