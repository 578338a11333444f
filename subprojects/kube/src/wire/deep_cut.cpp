#include "deep_cut.hpp"

namespace kube::wire {

void DeepCut::feed(std::string_view bytes, std::string& out) {
  std::size_t kept_from = 0;
  const auto keep_until = [&](std::size_t end) { out.append(bytes.substr(kept_from, end - kept_from)); };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
      if (depth_ == 2) in_items_ = c == '[';
      if (depth_ == 3 && in_items_) ++items_;
      if (depth_ == levels_ + 1) {
        keep_until(i);
        out += "null";
        if (in_items_ && items_ > 0) cut_items_.insert(items_ - 1);
      }
    } else if ((c == '}' || c == ']') && depth_ > 0) {
      if (depth_ == levels_ + 1) kept_from = i + 1;
      --depth_;
    }
  }
  if (depth_ <= levels_) keep_until(bytes.size());
}

}  // namespace kube::wire
