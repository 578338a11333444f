#include "controllers/links/shared_link.hpp"

namespace liqo::controllers {

asio::awaitable<kube::Result<kube::net::Response>> SharedLink::send(kube::HttpRequest request,
                                                                    kube::Deadline deadline) {
  // The owner of the link may stop and drop it meanwhile.
  const std::shared_ptr<ProviderLink> link = link_;
  if (!link) co_return kube::fail(kube::Errc::connect, "there is no connection yet");
  auto response = co_await link->transport().send(std::move(request), deadline);
  if (!response && response.error().code() == kube::Errc::stopped && !uses(link.get()))
    co_return kube::fail(kube::Errc::closed, "the connection was given up for another one");
  co_return response;
}

}  // namespace liqo::controllers
