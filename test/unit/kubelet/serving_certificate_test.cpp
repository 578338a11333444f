#include "kubelet/serving_certificate.hpp"

#include <doctest/doctest.h>

#include "fakes.hpp"
#include "kube/base/base64.hpp"
#include "kubelet/certificate_approver.hpp"

namespace {

using namespace liqo::kubelet;
using namespace std::chrono_literals;
using liqo::test::FakeAnswer;
using liqo::test::FakeHome;
namespace asio = boost::asio;
namespace json = kube::json;

constexpr std::string_view account = "system:serviceaccount:liqo:liqod";

/// A signing request as an API server stores it.
kube::Object stored_request(const kube::net::CertificateSubject& subject) {
  const std::string key = kube::net::make_key().value();
  kube::Object request = forge_serving_request(kube::net::make_certificate_request(key, subject).value());
  request.mutable_spec()["username"] = json::string(account);
  request.mutable_metadata()["name"] = "csr-1";
  return request;
}

const std::vector<std::string> nodes = {"milan", "turin"};

/// A replica whose leadership the test sets.
struct Replica final : kube::Leadership {
  using kube::Leadership::Leadership;
  using kube::Leadership::set_leading;
};

}  // namespace

TEST_CASE("a signing request has the shape that the signer demands") {
  const std::string key = kube::net::make_key().value();
  const std::string pem = kube::net::make_certificate_request(key, serving_subject("milan", "10.1.2.3")).value();
  const kube::Object request = forge_serving_request(pem);
  CHECK(kube::string_at(request.tree(), {"apiVersion"}) == "certificates.k8s.io/v1");
  CHECK(kube::string_at(request.spec(), {"signerName"}) == "kubernetes.io/kubelet-serving");
  CHECK(kube::decode_base64(kube::string_at(request.spec(), {"request"})).value() == pem);
  const auto info = kube::net::read_certificate_request(pem).value();
  CHECK(info.subject == kube::net::CertificateSubject{.common_name = "system:node:milan",
                                                      .organizations = {"system:nodes"},
                                                      .ip_addresses = {"10.1.2.3"}});
  CHECK_FALSE(info.has_other_names);
}

TEST_CASE("only our own requests for our own nodes are approved") {
  using Change = void (*)(kube::Object&, kube::net::CertificateSubject&);
  struct Case {
    const char* title;
    bool approved;
    Change change;
  };
  const Case cases[] = {
      {"ours", true, [](kube::Object&, kube::net::CertificateSubject&) {}},
      {"another of our nodes", true,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.common_name = "system:node:turin"; }},
      {"with key encipherment", true,
       [](kube::Object& r, kube::net::CertificateSubject&) {
         r.mutable_spec()["usages"] = json::array{"server auth", "key encipherment", "digital signature"};
       }},
      {"a node of the cluster", false,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.common_name = "system:node:master-0"; }},
      {"a node whose name begins like ours", false,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.common_name = "system:node:milan2"; }},
      {"no node", false, [](kube::Object&, kube::net::CertificateSubject& s) { s.common_name = "system:node:"; }},
      {"a user", false, [](kube::Object&, kube::net::CertificateSubject& s) { s.common_name = "admin"; }},
      {"another group", false,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.organizations = {"system:masters"}; }},
      {"one more group", false,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.organizations.push_back("system:masters"); }},
      {"no group", false, [](kube::Object&, kube::net::CertificateSubject& s) { s.organizations.clear(); }},
      {"another address", false,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.ip_addresses = {"10.1.2.4"}; }},
      {"two addresses", false,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.ip_addresses.push_back("10.0.0.1"); }},
      {"no address", false, [](kube::Object&, kube::net::CertificateSubject& s) { s.ip_addresses.clear(); }},
      {"a DNS name", false,
       [](kube::Object&, kube::net::CertificateSubject& s) { s.dns_names = {"kubernetes.default"}; }},
      {"another account", false,
       [](kube::Object& r, kube::net::CertificateSubject&) {
         r.mutable_spec()["username"] = "system:serviceaccount:liqo:other";
       }},
      {"nobody", false, [](kube::Object& r, kube::net::CertificateSubject&) { r.mutable_spec().erase("username"); }},
      {"another signer", false,
       [](kube::Object& r, kube::net::CertificateSubject&) {
         r.mutable_spec()["signerName"] = "kubernetes.io/kube-apiserver-client";
       }},
      {"client auth as well", false,
       [](kube::Object& r, kube::net::CertificateSubject&) {
         r.mutable_spec()["usages"] = json::array{"digital signature", "server auth", "client auth"};
       }},
      {"not for servers", false,
       [](kube::Object& r, kube::net::CertificateSubject&) {
         r.mutable_spec()["usages"] = json::array{"digital signature"};
       }},
      {"without usages", false,
       [](kube::Object& r, kube::net::CertificateSubject&) { r.mutable_spec().erase("usages"); }},
      {"usages that are no names", false,
       [](kube::Object& r, kube::net::CertificateSubject&) {
         r.mutable_spec()["usages"] = json::array{1, "digital signature", "server auth"};
       }},
      {"no request", false,
       [](kube::Object& r, kube::net::CertificateSubject&) { r.mutable_spec()["request"] = "aGVsbG8="; }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.title);
    kube::net::CertificateSubject subject = serving_subject("milan", "10.1.2.3");
    kube::Object ignored;
    c.change(ignored, subject);
    kube::Object request = stored_request(subject);
    c.change(request, subject);
    CHECK(may_approve(request, account, nodes, "10.1.2.3") == c.approved);
  }
  CHECK_FALSE(may_approve(stored_request(serving_subject("milan", "10.1.2.3")), account, {}, "10.1.2.3"));
  kube::Object nobodys = stored_request(serving_subject("milan", "10.1.2.3"));
  nobodys.mutable_spec()["username"] = "";
  CHECK_FALSE(may_approve(nobodys, "", nodes, "10.1.2.3"));
}

TEST_CASE("a request whose signature is not by its own key is not approved") {
  kube::Object request = stored_request(serving_subject("milan", "10.1.2.3"));
  std::string pem = kube::decode_base64(kube::string_at(request.spec(), {"request"})).value();
  // Another letter in the middle of the subject.
  const std::size_t at = pem.find('\n') + 40;
  pem[at] = pem[at] == 'A' ? 'B' : 'A';
  request.mutable_spec()["request"] = kube::encode_base64(pem);
  CHECK_FALSE(may_approve(request, account, nodes, "10.1.2.3"));
}

TEST_CASE("a certificate is asked for, waited for, used, cleared away and renewed; failures wait 30 s") {
  FakeHome* world = nullptr;
  int created = 0;
  int polls = 0;
  int removed = 0;
  std::string pem;
  std::vector<kube::WallTime> creations;
  FakeHome home([&](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    if (request.method == "POST") {
      ++created;
      creations.push_back(world->clock.wall());
      // The first attempt meets an API server that is out of order.
      if (created == 1) return FakeAnswer{.status = 403, .pieces = {R"({"kind":"Status","code":403,"message":"no"})"}};
      auto body = kube::parse_json(request.body).value();
      pem = kube::decode_base64(kube::string_at(body, {"spec", "request"})).value();
      body.as_object()["metadata"] = json::object{{"name", "csr-" + std::to_string(created)}};
      return FakeAnswer{.status = 201, .pieces = {json::serialize(body)}};
    }
    if (request.method == "DELETE") {
      ++removed;
      return FakeAnswer{.pieces = {"{}"}};
    }
    ++polls;
    json::object object{{"metadata", json::object{{"name", "csr-" + std::to_string(created)}}}};
    if (created == 2) {
      object["status"] =
          json::object{{"conditions", json::array{json::object{{"type", "Denied"}, {"message", "not you"}}}}};
    } else if (polls % 5 == 0) {
      // Signed for another key: the fake has no CA. It must not be used.
      const auto other =
          kube::net::make_self_signed(serving_subject("milan", "10.1.2.3"), world->clock.wall(), 1h).value();
      object["status"] = json::object{{"certificate", kube::encode_base64(other.certificate_pem)}};
    }
    return FakeAnswer{.pieces = {json::serialize(object)}};
  });
  world = &home;
  int used = 0;
  std::vector<std::string> names;
  ServingCertificate certificate(home.api, {.node_ip = "10.1.2.3",
                                            .nodes = [&names] { return names; },
                                            .use = [&used](const kube::net::KeyAndCertificate&) { ++used; }});
  home.simulator.run(
      [](FakeHome& w, ServingCertificate& c, std::vector<std::string>& n, int& posts) -> asio::awaitable<void> {
        kube::async::TaskGroup group(w.simulator.executor());
        group.spawn(c.run());
        co_await w.clock.sleep(1min);
        CHECK(posts == 0);  // no virtual node, no certificate
        n = {"milan"};
        co_await w.clock.sleep(3min);
        co_await group.stop();
      }(home, certificate, names, created));
  CHECK(created >= 4);
  CHECK(used == 0);
  CHECK(removed >= 1);
  for (std::size_t i = 1; i < creations.size(); ++i) CHECK(creations[i] - creations[i - 1] >= 30s);
  CHECK(kube::net::read_certificate_request(pem).value().subject == serving_subject("milan", "10.1.2.3"));
}

TEST_CASE("a request that nobody answers is taken back before the next one is made") {
  int created = 0, removed = 0, most = 0;
  FakeHome home([&](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    json::object object{{"metadata", json::object{{"name", "csr-" + std::to_string(created)}, {"uid", "u1"}}}};
    if (request.method == "POST") most = std::max(most, ++created - removed);
    if (request.method == "DELETE") ++removed;
    return FakeAnswer{.status = request.method == "POST" ? 201 : 200, .pieces = {json::serialize(object)}};
  });
  ServingCertificate certificate(home.api, {.node_ip = "10.1.2.3",
                                            .nodes = [] { return std::vector<std::string>{"milan"}; },
                                            .use = [](const kube::net::KeyAndCertificate&) {}});
  home.simulator.run(
      [](FakeHome& w, ServingCertificate& c) -> asio::awaitable<void> {
        kube::async::TaskGroup group(w.simulator.executor());
        group.spawn(c.run());
        co_await w.clock.sleep(2h);
        co_await group.stop();
      }(home, certificate),
      3h);
  CHECK(created >= 7);
  CHECK(most == 1);
}

TEST_CASE("a replica that does not lead asks for nothing, and at once when it leads") {
  int created = 0, reads = 0, removed = 0;
  FakeHome home([&](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    created += request.method == "POST";
    reads += request.method == "GET";
    removed += request.method == "DELETE";
    json::object object{{"metadata", json::object{{"name", "csr-" + std::to_string(created)}, {"uid", "u1"}}}};
    return FakeAnswer{.status = request.method == "POST" ? 201 : 200, .pieces = {json::serialize(object)}};
  });
  Replica replica(home.simulator.executor());
  ServingCertificate certificate(home.api, {.node_ip = "10.1.2.3",
                                            .leadership = &replica,
                                            .nodes = [] { return std::vector<std::string>{"milan"}; },
                                            .use = [](const kube::net::KeyAndCertificate&) {}});
  home.simulator.run(
      [](FakeHome& w, ServingCertificate& c, Replica& r, int& posts, int& gets) -> asio::awaitable<void> {
        kube::async::TaskGroup group(w.simulator.executor());
        group.spawn(c.run());
        co_await w.clock.sleep(2h);
        CHECK(posts + gets == 0);
        r.set_leading(true);
        co_await w.clock.sleep(1s);
        CHECK(posts == 1);
        co_await w.clock.sleep(1min);
        CHECK(gets > 50);
        // No replica uses its request when another one leads.
        r.set_leading(false);
        co_await w.clock.sleep(2s);
        const int before = gets;
        co_await w.clock.sleep(2h);
        CHECK(gets == before);
        co_await group.stop();
      }(home, certificate, replica, created, reads),
      5h);
  CHECK(created == 1);
  CHECK(removed == 1);
}

TEST_CASE("a replica that leads again asks at once, also while its last request is cleared away") {
  Replica* replica = nullptr;
  int created = 0, removed = 0;
  bool leads_after_removal = false;
  FakeHome home([&](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    created += request.method == "POST";
    removed += request.method == "DELETE";
    if (request.method == "DELETE" && leads_after_removal) replica->set_leading(true);
    json::object object{{"metadata", json::object{{"name", "csr-" + std::to_string(created)}, {"uid", "u1"}}}};
    return FakeAnswer{.status = request.method == "POST" ? 201 : 200, .pieces = {json::serialize(object)}};
  });
  Replica of_home(home.simulator.executor());  // ends before the loop
  replica = &of_home;
  replica->set_leading(true);
  ServingCertificate certificate(home.api, {.node_ip = "10.1.2.3",
                                            .leadership = replica,
                                            .nodes = [] { return std::vector<std::string>{"milan"}; },
                                            .use = [](const kube::net::KeyAndCertificate&) {}});
  home.simulator.run([](FakeHome& w, ServingCertificate& c, Replica& r, int& posts, int& removals,
                        bool& at_once) -> asio::awaitable<void> {
    kube::async::TaskGroup group(w.simulator.executor());
    group.spawn(c.run());
    co_await w.clock.sleep(3s);
    CHECK(posts == 1);
    r.set_leading(false);
    co_await w.clock.sleep(3s);
    CHECK(posts == 1);
    CHECK(removals == 1);
    r.set_leading(true);
    co_await w.clock.sleep(1s);
    CHECK(posts == 2);
    at_once = true;
    r.set_leading(false);
    co_await w.clock.sleep(2s);
    CHECK(removals == 2);
    CHECK(posts == 3);
    co_await group.stop();
  }(home, certificate, *replica, created, removed, leads_after_removal));
}

TEST_CASE("a replica that led when there was no node asks for nothing when there is one") {
  int asked = 0;
  FakeHome home([&](const kube::HttpRequest&) -> kube::Result<FakeAnswer> {
    ++asked;
    return FakeAnswer{.status = 403, .pieces = {R"({"kind":"Status","code":403,"message":"no"})"}};
  });
  Replica replica(home.simulator.executor());
  replica.set_leading(true);
  std::vector<std::string> names;
  ServingCertificate certificate(home.api, {.node_ip = "10.1.2.3",
                                            .leadership = &replica,
                                            .nodes = [&names] { return names; },
                                            .use = [](const kube::net::KeyAndCertificate&) {}});
  home.simulator.run(
      [](FakeHome& w, ServingCertificate& c, Replica& r, std::vector<std::string>& n,
         int& requests) -> asio::awaitable<void> {
        kube::async::TaskGroup group(w.simulator.executor());
        group.spawn(c.run());
        co_await w.clock.sleep(1min);
        r.set_leading(false);
        n = {"milan"};
        co_await w.clock.sleep(5min);
        CHECK(requests == 0);
        r.set_leading(true);
        co_await w.clock.sleep(1s);
        CHECK(requests == 1);
        co_await group.stop();
      }(home, certificate, replica, names, asked),
      10min);
}

TEST_CASE("a certificate for a node that has gone is not waited for") {
  std::vector<std::string> asked_for;
  int removed = 0;
  FakeHome home([&](const kube::HttpRequest& request) -> kube::Result<FakeAnswer> {
    if (request.method == "POST") {
      const auto body = kube::parse_json(request.body).value();
      const auto pem = kube::decode_base64(kube::string_at(body, {"spec", "request"})).value();
      asked_for.push_back(kube::net::read_certificate_request(pem).value().subject.common_name);
    }
    removed += request.method == "DELETE";
    json::object object{{"metadata", json::object{{"name", "csr"}, {"uid", "u1"}}}};
    return FakeAnswer{.status = request.method == "POST" ? 201 : 200, .pieces = {json::serialize(object)}};
  });
  std::vector<std::string> names = {"milan", "turin"};
  ServingCertificate certificate(
      home.api,
      {.node_ip = "10.1.2.3", .nodes = [&names] { return names; }, .use = [](const kube::net::KeyAndCertificate&) {}});
  home.simulator.run(
      [](FakeHome& w, ServingCertificate& c, std::vector<std::string>& n) -> asio::awaitable<void> {
        kube::async::TaskGroup group(w.simulator.executor());
        group.spawn(c.run());
        co_await w.clock.sleep(10s);
        n = {"turin"};
        co_await w.clock.sleep(3s);
        n = {"bari", "turin"};
        co_await w.clock.sleep(1min);
        co_await group.stop();
      }(home, certificate, names),
      2min);
  CHECK(asked_for == std::vector<std::string>{"system:node:milan", "system:node:turin"});
  CHECK(removed == 1);
}

TEST_CASE("a self-signed certificate is renewed in time, too") {
  FakeHome home([](const kube::HttpRequest&) -> kube::Result<FakeAnswer> {
    return kube::fail(kube::Errc::connect, "nobody asked");
  });
  std::vector<kube::WallTime> uses;
  ServingCertificate certificate(
      home.api, {.node_ip = "10.1.2.3",
                 .self_signed = true,
                 .nodes = [] { return std::vector<std::string>{"milan"}; },
                 .use =
                     [&](const kube::net::KeyAndCertificate& pair) {
                       uses.push_back(home.clock.wall());
                       CHECK(kube::net::read_certificate(pair.certificate_pem).value().subject.ip_addresses ==
                             std::vector<std::string>{"10.1.2.3"});
                     }});
  home.simulator.run(
      [](FakeHome& w, ServingCertificate& c) -> asio::awaitable<void> {
        kube::async::TaskGroup group(w.simulator.executor());
        group.spawn(c.run());
        co_await w.clock.sleep(20h);
        co_await group.stop();
      }(home, certificate),
      24h);
  CHECK(uses.size() == 1);
  CHECK(home.transport.requests.empty());
}

TEST_CASE("decided requests are left alone") {
  kube::Object request = stored_request(serving_subject("milan", "10.1.2.3"));
  CHECK_FALSE(is_decided(request));
  request.mutable_status()["conditions"] = json::array{json::object{{"type", "Approved"}}};
  CHECK(is_decided(request));
}
