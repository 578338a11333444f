#include "webhook/live_reads.hpp"

#include <boost/asio/this_coro.hpp>
#include <list>

#include "kube/async/event.hpp"
#include "kube/client/find_live.hpp"

namespace liqo::webhook {
namespace {

using kube::Result;

kube::Failure no_room() { return {kube::Errc::too_large, "too many reviews at once; try again"}; }

}  // namespace

/// One list, and the reviews that visit its objects.
struct LiveReads::Listing {
  explicit Listing(const asio::any_io_executor& executor) : ended(executor) {}
  kube::async::Event ended;
  std::list<const Visit*> visits;
  /// Unset until it is complete, and if its reader was cancelled.
  std::optional<Result<void>> outcome;
};

/// A review that waits for a list; it may end before the list does.
class LiveReads::Place {
 public:
  Place(LiveReads& reads, const Name& name, Listing& listing, const Visit& visit)
      : reads_(reads), name_(name), listing_(listing), at_(listing.visits.insert(listing.visits.end(), &visit)) {}
  ~Place() {
    listing_.visits.erase(at_);
    const auto line = reads_.lines_.find(name_);
    if (line == reads_.lines_.end() || line->second.next.get() != &listing_ || !listing_.visits.empty()) return;
    line->second.next = nullptr;
    if (!line->second.now) reads_.lines_.erase(line);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  LiveReads& reads_;
  const Name& name_;
  Listing& listing_;
  std::list<const Visit*>::iterator at_;
};

/// The reader for all that wait on a line, until it goes out of scope.
class LiveReads::Reader {
 public:
  Reader(LiveReads& reads, Name name) : reads_(reads), name_(std::move(name)) {
    Line& line = reads_.lines_.at(name_);
    line.now = std::exchange(line.next, nullptr);
  }
  ~Reader() {
    const auto line = reads_.lines_.find(name_);
    const auto ended = std::exchange(line->second.now, nullptr);
    if (!line->second.next) reads_.lines_.erase(line);
    ended->ended.set();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

 private:
  LiveReads& reads_;
  Name name_;
};

LiveReads::LiveReads(kube::Api& api, std::size_t max_listed) : api_(api), max_listed_(max_listed) {}

asio::awaitable<Result<void>> LiveReads::each(Selection selection, Visit visit, const Hold& hold) {
  const Name name{std::string(selection.collection.resource.plural), selection.collection.ns};
  const auto executor = co_await asio::this_coro::executor;
  while (true) {
    Line& line = lines_[name];
    if (!line.next) line.next = std::make_shared<Listing>(executor);
    const std::shared_ptr<Listing> mine = line.next;
    const Place place(*this, name, *mine, visit);
    while (true) {
      const auto found = lines_.find(name);
      const std::shared_ptr<Listing> under_way = found == lines_.end() ? nullptr : found->second.now;
      if (!under_way) break;
      co_await under_way->ended.wait();
      if (under_way == mine) break;
    }
    if (mine->outcome) co_return *mine->outcome;
    // Its reader was cancelled before the end, and others may wait for the next list already.
    if (mine->ended.is_set()) continue;
    const Reader reader(*this, name);
    mine->outcome = co_await read(selection, *mine, hold);
    co_return *mine->outcome;
  }
}

asio::awaitable<Result<void>> LiveReads::read(const Selection& selection, Listing& listing, const Hold& hold) {
  if (!hold(one_list)) co_return std::unexpected(no_room());
  std::size_t seen = 0;
  const kube::ListOptions options{.selection = {.label_selector = selection.label_selector},
                                  .metadata_only = selection.metadata_only};
  KUBE_CO_TRYV(co_await kube::list_all(api_, selection.collection, options, [&](const kube::Object& object) {
    if (++seen > max_listed_) return false;
    for (const Visit* visit : listing.visits) (*visit)(object);
    return true;
  }));
  // A rule that sees only a part of the list would admit what the rest forbids.
  if (seen > max_listed_)
    co_return kube::fail(kube::Errc::too_large, "there are more than " + std::to_string(max_listed_) + " " +
                                                    std::string(selection.collection.resource.plural));
  co_return Result<void>();
}

asio::awaitable<Result<std::optional<kube::Object>>> LiveReads::find(kube::Resource resource, kube::ObjectKey key,
                                                                     const Hold& hold) {
  if (!hold(one_object)) co_return std::unexpected(no_room());
  co_return co_await kube::find_live(api_, resource, std::move(key));
}

}  // namespace liqo::webhook
