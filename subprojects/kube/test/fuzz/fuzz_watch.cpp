// The decoders of watches and lists against any bytes, in pieces of any size.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kube/wire/list_decoder.hpp"
#include "kube/wire/watch_decoder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte says in which pieces the rest arrives.
  const std::size_t piece = std::size_t(data[0]) + 1;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  // Little enough that some inputs are refused for it.
  static const auto account = std::make_shared<kube::MemoryAccount>("all", 1 << 16, nullptr);
  std::optional<kube::wire::WatchDecoder> watch(std::in_place, 1 << 16, account);
  std::optional<kube::wire::ListDecoder> list(std::in_place, 1 << 16, account);
  bool watching = true, listing = true;
  while (!rest.empty()) {
    const std::string_view bytes = rest.substr(0, piece);
    rest.remove_prefix(bytes.size());
    if (watching && !watch->feed(bytes)) watching = false;
    while (watching) {
      auto event = watch->next();
      if (!event) watching = false;
      if (!event || !event->has_value()) break;
      const kube::Object object(std::move((*event)->object));
      static_cast<void>(object.key());
      static_cast<void>(object.owner_references());
      static_cast<void>(object.is_deleting());
    }
    if (listing && !list->feed(bytes)) listing = false;
    while (listing) {
      auto item = list->next();
      if (!item) listing = false;
      if (!item || !item->has_value()) break;
      static_cast<void>(kube::Object::from(std::move((*item)->tree)));
    }
  }
  if (listing) static_cast<void>(list->finish());
  watch.reset();
  list.reset();
  if (account->held() != 0) __builtin_trap();
  return 0;
}
