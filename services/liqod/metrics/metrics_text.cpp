#include "metrics_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <string_view>

namespace liqod {

/// Replaces the values of labels that name a peer, its node, or the host of its API server by numbers.
class MetricsText::PeerNumbers {
 public:
  std::string hide(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    ++round_;
    while (!text.empty()) {
      const auto [begin, end] = find_name(text);
      out += text.substr(0, begin);
      if (begin < text.size()) out += number_of(text.substr(begin, end - begin));
      text.remove_prefix(end);
    }
    // A consumer can invent names of slices without end, so numbers of names that are gone are dropped.
    std::erase_if(numbers_, [this](const auto& entry) { return entry.second.round != round_; });
    return out;
  }

 private:
  /// The begin and the end of the next value of such a label; both at the end of the text if there is none.
  static std::pair<std::size_t, std::size_t> find_name(std::string_view text) {
    static constexpr std::array<std::string_view, 6> labels = {"cluster=\"",   "cluster_id=\"", "host=\"",
                                                               "node_name=\"", "slice=\"",      "identity=\""};
    for (std::size_t at = text.find_first_of("{,"); at != std::string_view::npos; at = text.find_first_of("{,", at + 1))
      for (const std::string_view label : labels) {
        if (!text.substr(at + 1).starts_with(label)) continue;
        const std::size_t begin = at + 1 + label.size();
        // Names of clusters, nodes and hosts contain nothing that is escaped.
        return {begin, std::min(text.find('"', begin), text.size())};
      }
    return {text.size(), text.size()};
  }
  std::string number_of(std::string_view name) {
    if (name.empty()) return {};
    const auto [entry, is_new] = numbers_.try_emplace(std::string(name), Number{.number = next_ + 1});
    if (is_new) ++next_;
    entry->second.round = round_;
    return "peer-" + std::to_string(entry->second.number);
  }

  struct Number {
    std::size_t number = 0, round = 0;
  };
  std::map<std::string, Number> numbers_;  // of the names in the last text
  std::size_t next_ = 0, round_ = 0;
};

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

MetricsText::MetricsText(kube::Metrics& metrics, std::function<void()> refresh, PeerNames names,
                         std::function<double()> used)
    : metrics_(metrics),
      refresh_(std::move(refresh)),
      used_(std::move(used)),
      numbers_(names == PeerNames::numbered ? std::make_unique<PeerNumbers>() : nullptr) {}

MetricsText::~MetricsText() = default;

const std::string& MetricsText::read(kube::TimePoint now) {
  left_ = std::min(burst, left_ + std::chrono::duration<double>(now - at_).count() * part);
  at_ = now;
  if (!text_.empty() && left_ <= 0) return text_;
  const double begun = used_();
  refresh_();
  text_ = metrics_.text();
  if (numbers_) text_ = numbers_->hide(text_);
  left_ -= used_() - begun;
  return text_;
}

}  // namespace liqod
