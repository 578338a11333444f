#include "kube/net/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace kube::net {

std::expected<std::string, int> read_file(const std::string& path, std::size_t max_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::unexpected(errno);
  std::string text;
  char buffer[8192];
  ssize_t count = 0;
  while ((count = ::read(file, buffer, sizeof(buffer))) > 0 && text.size() <= max_bytes)
    text.append(buffer, static_cast<std::size_t>(count));
  const int error = count < 0 ? errno : text.size() > max_bytes ? EFBIG : 0;
  ::close(file);
  if (error != 0) return std::unexpected(error);
  return text;
}

}  // namespace kube::net
