#include "tests/transport/fixture.hpp"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>

using namespace ahpd::tests;

namespace {

template <class T, void (*release)(T*)> struct freeing {
  void operator()(T* it) const { release(it); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freeing<EVP_PKEY, EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freeing<X509, X509_free>>;

/// A fresh key and a certificate of its own making, as PEM files.
struct identity {
  std::string certificate, key;

  identity(const std::string& dir, const std::string& name, const char* alternative)
      : certificate(dir + "/" + name + ".pem"), key(dir + "/" + name + ".key") {
    const key_ptr pair(EVP_EC_gen("P-256"));
    const certificate_ptr made(X509_new());
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), pair.get());
    auto* subject = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(), subject);
    const std::unique_ptr<X509_EXTENSION, freeing<X509_EXTENSION, X509_EXTENSION_free>> san(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative));
    X509_add_ext(made.get(), san.get(), -1);
    REQUIRE(X509_sign(made.get(), pair.get(), EVP_sha256()) > 0);
    std::FILE* out = std::fopen(certificate.c_str(), "w");
    REQUIRE(out);
    PEM_write_X509(out, made.get());
    std::fclose(out);
    out = std::fopen(key.c_str(), "w");
    REQUIRE(out);
    PEM_write_PrivateKey(out, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
  }
};

/// Accepts one TLS connection and answers each request it reads, until the peer goes.
class tls_peer {
public:
  tls_peer(std::unique_ptr<raw_peer> over, const identity& own, const std::string& clients)
      : over_(std::move(over)), thread_([this, own, clients] { run(own, clients); }) {}
  ~tls_peer() {
    ::shutdown(over_->descriptor(), SHUT_RDWR);
    thread_.join();
  }

private:
  void run(const identity& own, const std::string& clients) {
    const std::unique_ptr<SSL_CTX, freeing<SSL_CTX, SSL_CTX_free>> context(
      SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate_file(context.get(), own.certificate.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context.get(), own.key.c_str(), SSL_FILETYPE_PEM);
    if (!clients.empty()) {
      SSL_CTX_load_verify_locations(context.get(), clients.c_str(), nullptr);
      SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    const std::unique_ptr<SSL, freeing<SSL, SSL_free>> tls(SSL_new(context.get()));
    SSL_set_fd(tls.get(), over_->descriptor());
    if (SSL_accept(tls.get()) != 1) {
      ::shutdown(over_->descriptor(), SHUT_RDWR);
      return;
    }
    char in[4096];
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
    while (SSL_read(tls.get(), in, sizeof in) > 0)
      SSL_write(tls.get(), answer.data(), static_cast<int>(answer.size()));
  }

  std::unique_ptr<raw_peer> over_;
  std::thread thread_;
};

} // namespace

TEST_CASE("TLS is spoken with a peer that proves its name, and with no other") {
  std::signal(SIGPIPE, SIG_IGN); // OpenSSL's own writes in the peer's thread
  scratch dir;
  const identity good(dir.path(), "good", "IP:127.0.0.1"),
    other(dir.path(), "other", "DNS:elsewhere"), client(dir.path(), "client", "DNS:client");
  loop on;
  raw_listener listener(on);
  auto to = tcp_target(listener.port());
  to.tls = true;
  to.tls_roots = good.certificate;
  const auto ask = [&](const identity& with, const std::string& clients, int times) {
    const auto sut = make_http_client(on.io, to);
    std::optional<http_result> got;
    std::unique_ptr<tls_peer> peer;
    for (int i = 0; i < times; ++i) {
      got.reset();
      const auto running = sut->send({}, {}, [&](http_result it) { got = std::move(it); });
      if (!peer)
        peer = std::make_unique<tls_peer>(listener.accept(), with, clients);
      on.until([&] { return got.has_value(); }, "an answer");
    }
    return got->response ? got->response->body : got->failed.text;
  };
  const std::string name = "TLS with 127.0.0.1:" + std::to_string(to.port) + ": ";
  CHECK(ask(good, "", 2) == "secret"); // twice on one connection
  CHECK(listener.quiet());
  CHECK(ask(other, "", 1).find(name) == 0);
  to.tls_roots = other.certificate; // trusted now, but still somebody else
  CHECK(ask(other, "", 1) == name + "IP address mismatch");
  to.tls_roots = good.certificate;
  CHECK(ask(good, client.certificate, 1) != "secret");
  to.tls_certificate = client.certificate;
  to.tls_key = client.key;
  CHECK(ask(good, client.certificate, 1) == "secret");
  to.tls_key = dir.path() + "/none.key";
  const auto sut = make_http_client(on.io, to);
  std::optional<http_result> got;
  const auto running = sut->send({}, {}, [&](http_result it) { got = std::move(it); });
  on.until([&] { return got.has_value(); }, "the failure");
  CHECK(got->failed.text.find("TLS file " + to.tls_key + ": ") == 0);
}
