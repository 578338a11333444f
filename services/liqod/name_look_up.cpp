#include "name_look_up.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "kube/net/resolver.hpp"

namespace liqod {
namespace {

namespace asio = boost::asio;
using kube::net::Resolver;
using liqo::core::NameLook;

/// The two names that are looked up.
constexpr std::size_t max_threads = 2;

/// Errors: Errc::missing if the name server says that there is no such name, or none with an address; Errc::connect if
/// it says nothing.
kube::Result<Resolver::Addresses> ask(const std::string& name) {
  asio::io_context context(1);
  asio::ip::tcp::resolver resolver(context);
  boost::system::error_code error;
  const auto results = resolver.resolve(name, "", error);
  if (error == asio::error::host_not_found || error == asio::error::no_data)
    return kube::fail(kube::Errc::missing, error.message());
  if (error) return kube::fail(kube::Errc::connect, error.message());
  Resolver::Addresses addresses;
  for (const auto& entry : results) addresses.push_back(entry.endpoint().address());
  return addresses;
}

asio::awaitable<NameLook> look_up(std::shared_ptr<Resolver> resolver, std::string name) {
  // With a dot at its end it is the whole name.
  const auto found = co_await resolver->look_up(std::move(name) + ".");
  if (found) co_return NameLook::found;
  co_return found.error().code() == kube::Errc::missing ? NameLook::absent : NameLook::nothing;
}

}  // namespace

std::function<asio::awaitable<NameLook>(std::string name)> make_name_look_up() {
  return [resolver = std::make_shared<Resolver>(ask, max_threads)](std::string name) {
    return look_up(resolver, std::move(name));
  };
}

}  // namespace liqod
