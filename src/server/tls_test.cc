// TLS over real sockets: a broker with its listeners, and clients that OpenSSL plays.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "config/load.h"
#include "runtime/tls_stream.h"
#include "security/test_certificates.h"
#include "server/server.h"

namespace thalweg::server {
namespace {

using runtime::Awaitable;
using security::test::make;
using security::test::make_authority;
using security::test::make_client;
using security::test::Pair;
using security::test::pem;
using testing::HasSubstr;

constexpr int kPatienceMs = 20'000;

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// ApiVersions v0 with this correlation id.
std::string api_versions_request(std::uint32_t correlation_id) {
  return big_endian(10, 4) + big_endian(18, 2) + big_endian(0, 2) + big_endian(correlation_id, 4) +
         big_endian(0xFFFF, 2);
}

class Socket {
 public:
  explicit Socket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    const timeval patience{.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  // Whether the server ends the connection before patience does.
  [[nodiscard]] bool ends() const {
    char byte = 0;
    ssize_t n = 0;
    while ((n = ::recv(fd_, &byte, 1, 0)) > 0) {
    }
    return n == 0 || errno == ECONNRESET;
  }

 private:
  int fd_;
};

struct ClientOptions {
  const Pair* trusts = nullptr;
  const Pair* shows = nullptr;
  int version = 0;  // the only one; 0: what OpenSSL offers
};

class Client {
 public:
  Client(std::uint16_t port, const ClientOptions& options)
      : socket_(port), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    SSL_CTX* context = context_.get();
    if (options.version != 0) {
      SSL_CTX_set_min_proto_version(context, options.version);
      SSL_CTX_set_max_proto_version(context, options.version);
      SSL_CTX_set_security_level(context, 0);
    }
    if (options.trusts != nullptr) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), options.trusts->certificate.get());
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    }
    if (options.shows != nullptr) {
      SSL_CTX_use_certificate(context, options.shows->certificate.get());
      SSL_CTX_use_PrivateKey(context, options.shows->key.get());
    }
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), socket_.fd());
    SSL_set_tlsext_host_name(ssl_.get(), "localhost");
  }
  bool shake() { return noted(SSL_connect(ssl_.get())); }
  bool send(std::string_view bytes) {
    return noted(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())));
  }
  // So many bytes, or fewer where the connection ends.
  std::string receive(std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t have = 0;
    while (have < size) {
      const int n = SSL_read(ssl_.get(), bytes.data() + have, static_cast<int>(size - have));
      if (!noted(n)) break;
      have += static_cast<std::size_t>(n);
    }
    bytes.resize(have);
    return bytes;
  }
  // Whether an ApiVersions request is answered.
  bool is_served(std::uint32_t correlation_id = 7) {
    if (!send(api_versions_request(correlation_id))) return false;
    const std::string head = receive(8);
    if (head.size() != 8 || head.substr(4) != big_endian(correlation_id, 4)) return false;
    std::size_t rest = 0;
    for (int i = 0; i < 4; ++i) rest = rest << 8 | static_cast<unsigned char>(head[static_cast<std::size_t>(i)]);
    return receive(rest - 4).size() == rest - 4;
  }
  // A whole conversation; what the server said where it was refused.
  bool shake_and_ask() { return shake() && is_served(); }

  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] SSL* ssl() const { return ssl_.get(); }
  [[nodiscard]] Socket& socket() { return socket_; }

 private:
  bool noted(int result) {
    if (result > 0) return true;
    const int why = SSL_get_error(ssl_.get(), result);
    const unsigned long code = ERR_get_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    if (error_.empty()) error_ = reason != nullptr ? reason : why == SSL_ERROR_ZERO_RETURN ? "good-bye" : "system";
    ERR_clear_error();
    return false;
  }

  Socket socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
  std::string error_;
};

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    std::string pattern = (std::filesystem::temp_directory_path() / "thalweg-tls-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write("server.pem", pem(own_.key) + pem(own_.certificate));
    write("ca.pem", pem(authority_.certificate));
  }
  void TearDown() override {
    if (server_) server_->stop();
    if (broker_) broker_->stop();
    server_.reset();
    broker_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary | std::ios::trunc) << bytes;
  }

  // Settings of a listener SSL with the files above, and more over them.
  std::vector<std::string> settings(std::vector<std::string> more) const {
    std::vector<std::string> all = {"log.dirs=" + path("data"),
                                    "thalweg.cores=2",
                                    "listeners=SSL://127.0.0.1:0",
                                    "ssl.keystore.type=PEM",
                                    "ssl.keystore.location=" + path("server.pem"),
                                    "ssl.truststore.type=PEM",
                                    "ssl.truststore.location=" + path("ca.pem")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void start(std::vector<std::string> more = {}) {
    auto config = config::load_broker_config({.file = std::nullopt, .overrides = settings(std::move(more))});
    ASSERT_TRUE(config) << config.error();
    auto read = broker::Settings::read(*config);
    ASSERT_TRUE(read) << read.error();
    files_ = runtime::make_system_file_system();
    broker_ = std::make_unique<broker::Broker>(broker::Broker::Environment{clock_, *files_}, std::move(*read),
                                               std::move(*config));
    server_ = std::make_unique<Server>(*broker_);
    const auto bound = server_->bind();
    ASSERT_TRUE(bound) << bound.error();
    const auto started = broker_->start();
    ASSERT_TRUE(started) << started.error();
    server_->serve();
  }
  std::uint16_t port() const { return static_cast<std::uint16_t>(broker_->advertised().front().port); }
  std::int64_t handshakes() const { return server_->tls_handshakes(); }
  // How many handshakes failed, once these many have: a client may see the end before the server has counted it.
  std::int64_t failures_when(std::int64_t at_least) const {
    while (server_->tls_handshake_failures() < at_least) std::this_thread::yield();
    return server_->tls_handshake_failures();
  }
  // What stops a listener with these settings, or "" where nothing does.
  std::string open_error(std::vector<std::string> more) const {
    const auto config = config::load_broker_config({.file = std::nullopt, .overrides = settings(std::move(more))});
    if (!config) return config.error();
    const config::Endpoint endpoint{.listener = "SSL", .protocol = config::SecurityProtocol::ssl, .host = "127.0.0.1"};
    const auto listener = TlsListener::open(*config, endpoint, clock_);
    return listener ? std::string() : listener.error();
  }

  std::string folder_;
  base::SystemClock clock_;
  const Pair authority_ = make_authority("root");
  const Pair stranger_ = make_authority("stranger");
  const Pair own_ = make({}, &authority_);
  std::unique_ptr<runtime::FileSystem> files_;
  std::unique_ptr<broker::Broker> broker_;
  std::unique_ptr<Server> server_;
};

TEST_F(TlsTest, BothVersionsAreServedAndEndWithAGoodBye) {
  start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Client client(port(), {.trusts = &authority_, .version = version});
    ASSERT_TRUE(client.shake_and_ask()) << client.error();
    EXPECT_EQ(SSL_version(client.ssl()), version);
    // A frame that is too large ends the connection.
    ASSERT_TRUE(client.send(big_endian(0x7FFFFFFF, 4)));
    EXPECT_EQ(client.receive(1), "");
    EXPECT_EQ(client.error(), "good-bye");
  }
  EXPECT_EQ(handshakes(), 2);
  EXPECT_EQ(failures_when(0), 0);
}

TEST_F(TlsTest, AnOldVersionIsRefused) {
  start();
  Client client(port(), {.version = TLS1_1_VERSION});
  EXPECT_FALSE(client.shake());
  EXPECT_THAT(client.error(), HasSubstr("protocol version"));
  EXPECT_TRUE(Client(port(), {.trusts = &authority_}).shake_and_ask());
  EXPECT_EQ(failures_when(1), 1);
}

TEST_F(TlsTest, WhoDoesNotTrustTheBrokerIsOnlyCounted) {
  start();
  Client client(port(), {.trusts = &stranger_});
  EXPECT_FALSE(client.shake());
  EXPECT_THAT(client.error(), HasSubstr("certificate verify failed"));
  EXPECT_TRUE(Client(port(), {.trusts = &authority_}).shake_and_ask());
}

TEST_F(TlsTest, ARequiredCertificateIsCheckedAndTheClientToldWhy) {
  start({"ssl.client.auth=required"});
  const Pair good = make_client("kate", authority_);
  const Pair expired =
      make({.subject = {{"CN", "old"}}, .names = {}, .begins_in_s = -7200, .ends_in_s = -3600}, &authority_);
  const Pair foreign = make_client("eve", stranger_);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Client welcome(port(), {.trusts = &authority_, .shows = &good, .version = version});
    EXPECT_TRUE(welcome.shake_and_ask()) << welcome.error();
    Client late(port(), {.trusts = &authority_, .shows = &expired, .version = version});
    EXPECT_FALSE(late.shake_and_ask());
    EXPECT_THAT(late.error(), HasSubstr("certificate expired"));
    Client unknown(port(), {.trusts = &authority_, .shows = &foreign, .version = version});
    EXPECT_FALSE(unknown.shake_and_ask());
    EXPECT_THAT(unknown.error(), HasSubstr("unknown ca"));
    Client silent(port(), {.trusts = &authority_, .version = version});
    EXPECT_FALSE(silent.shake_and_ask());
    EXPECT_THAT(silent.error(), testing::AnyOf(HasSubstr("certificate required"), HasSubstr("handshake failure")));
  }
  EXPECT_EQ(handshakes(), 2);
  EXPECT_EQ(failures_when(6), 6);
}

TEST_F(TlsTest, ARequestedCertificateMayBeMissingButNotWrong) {
  start({"ssl.client.auth=requested"});
  const Pair foreign = make_client("eve", stranger_);
  EXPECT_TRUE(Client(port(), {.trusts = &authority_}).shake_and_ask());
  EXPECT_FALSE(Client(port(), {.trusts = &authority_, .shows = &foreign}).shake_and_ask());
}

TEST_F(TlsTest, PlainBytesEndTheConnectionAndNothingElse) {
  start();
  const Socket plain(port());
  plain.send(api_versions_request(1));
  EXPECT_TRUE(plain.ends());
  const Socket web(port());
  web.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(web.ends());
  EXPECT_TRUE(Client(port(), {.trusts = &authority_}).shake_and_ask());
  EXPECT_EQ(failures_when(2), 2);
}

TEST_F(TlsTest, TlsToAPlainListenerEndsTheConnection) {
  start({"listeners=PLAINTEXT://127.0.0.1:0"});
  Client client(port(), {});
  EXPECT_FALSE(client.shake());
}

// Sends what OpenSSL has put into `out`, byte by byte, and feeds what comes.
void trickle(SSL* ssl, BIO* in, BIO* out, const Socket& socket) {
  char byte = 0;
  while (BIO_read(out, &byte, 1) == 1) socket.send({&byte, 1});
  char block[4096];
  pollfd ready{.fd = socket.fd(), .events = POLLIN, .revents = 0};
  if (SSL_want_read(ssl) && ::poll(&ready, 1, kPatienceMs) == 1) {
    const ssize_t n = ::recv(socket.fd(), block, sizeof(block), 0);
    if (n > 0) BIO_write(in, block, static_cast<int>(n));
  }
}

TEST_F(TlsTest, AHandshakeAndARequestMayComeByteByByte) {
  start({"ssl.client.auth=required"});
  const Pair good = make_client("kate", authority_);
  Client client(port(), {.trusts = &authority_, .shows = &good});
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(client.ssl(), in, out);
  int done = 0;
  for (int i = 0; i < 20 && (done = SSL_connect(client.ssl())) != 1; ++i)
    trickle(client.ssl(), in, out, client.socket());
  ASSERT_EQ(done, 1);
  const std::string request = api_versions_request(9);
  ASSERT_EQ(SSL_write(client.ssl(), request.data(), static_cast<int>(request.size())),
            static_cast<int>(request.size()));
  char answer[8] = {};
  std::size_t have = 0;
  for (int i = 0; i < 20 && have < sizeof(answer); ++i) {
    const int n = SSL_read(client.ssl(), answer + have, static_cast<int>(sizeof(answer) - have));
    if (n > 0) have += static_cast<std::size_t>(n);
    if (n <= 0) trickle(client.ssl(), in, out, client.socket());
  }
  ASSERT_EQ(have, sizeof(answer));
  EXPECT_EQ(std::string(answer + 4, 4), big_endian(9, 4));
}

TEST_F(TlsTest, HalfOpenConnectionsStopNobody) {
  start();
  // The beginning of a client's hello, and nothing at all.
  std::vector<Socket> silent;
  for (int i = 0; i < 300; ++i) {
    silent.emplace_back(port());
    if (i % 2 == 0) silent.back().send("\x16\x03\x01\x02");
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Client(port(), {.trusts = &authority_}).shake_and_ask());
}

TEST_F(TlsTest, AHandshakeThatDoesNotComeOnEndsWithConnectionsMaxIdle) {
  start({"connections.max.idle.ms=300"});
  const Socket silent(port());
  const Socket half(port());
  half.send("\x16\x03\x01\x02");
  EXPECT_TRUE(silent.ends());
  EXPECT_TRUE(half.ends());
  EXPECT_EQ(failures_when(2), 2);
}

long serial_seen_by(Client& client) {
  const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(client.ssl()), X509_free);
  return ASN1_INTEGER_get(X509_get0_serialNumber(shown.get()));
}

TEST_F(TlsTest, ANewCertificateIsTakenFromTheFileWhileOldConnectionsGoOn) {
  start();
  Client before(port(), {.trusts = &authority_});
  ASSERT_TRUE(before.shake_and_ask());
  EXPECT_TRUE(server_->reload_tls(TlsListener::Force::no));
  const Pair next = make({}, &authority_);
  write("server.pem", pem(next.key) + pem(next.certificate) + "\n");
  EXPECT_TRUE(server_->reload_tls(TlsListener::Force::no));
  Client after(port(), {.trusts = &authority_});
  ASSERT_TRUE(after.shake_and_ask()) << after.error();
  EXPECT_EQ(serial_seen_by(after), ASN1_INTEGER_get(X509_get0_serialNumber(next.certificate.get())));
  EXPECT_NE(serial_seen_by(before), serial_seen_by(after));
  EXPECT_TRUE(before.is_served());
}

TEST_F(TlsTest, WhatCannotTakeTheOldOnesPlaceIsLeft) {
  start();
  const Pair renamed = make({.subject = {{"CN", "other"}}}, &authority_);
  const Pair fewer = make({.names = "DNS:localhost"}, &authority_);
  for (const std::string& bytes : {pem(renamed.key) + pem(renamed.certificate), pem(fewer.key) + pem(fewer.certificate),
                                   std::string("half a fi")}) {
    write("server.pem", bytes);
    EXPECT_TRUE(server_->reload_tls(TlsListener::Force::yes));
    Client client(port(), {.trusts = &authority_});
    ASSERT_TRUE(client.shake_and_ask()) << client.error();
    EXPECT_EQ(serial_seen_by(client), ASN1_INTEGER_get(X509_get0_serialNumber(own_.certificate.get())));
  }
}

TEST_F(TlsTest, AnotherNameIsTakenWhereThatIsAllowed) {
  start({"ssl.allow.dn.changes=true", "ssl.allow.san.changes=true"});
  const Pair renamed = make({.subject = {{"CN", "other"}}, .names = "DNS:other"}, &authority_);
  write("server.pem", pem(renamed.key) + pem(renamed.certificate));
  EXPECT_TRUE(server_->reload_tls(TlsListener::Force::no));
  Client client(port(), {.trusts = &authority_});
  ASSERT_TRUE(client.shake_and_ask()) << client.error();
  EXPECT_EQ(serial_seen_by(client), ASN1_INTEGER_get(X509_get0_serialNumber(renamed.certificate.get())));
}

TEST_F(TlsTest, AStartThatCannotBeSaysWhyInOneLine) {
  const Pair other = make({}, &authority_);
  write("mismatch.pem", pem(other.key) + pem(own_.certificate));
  write("locked.pem", pem(own_.key, "secret") + pem(own_.certificate));
  write("java.jks", std::string_view("\xFE\xED\xFE\xED\0\0\0\2\0\0\0\0", 12));
  write("store.p12", security::test::pkcs12(&own_, {}, "secret"));
  write("empty.pem", "");
  const std::string in_file = "ssl.keystore.location=" + path("");
  struct Case {
    std::vector<std::string> settings;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {{in_file + "missing.pem"},
       {"-o ssl.keystore.location=", "missing.pem: listener SSL: cannot be read: No such file"}},
      {{"ssl.keystore.location=" + folder_}, {"cannot be read: Is a directory"}},
      {{in_file + "empty.pem"}, {"the file is empty"}},
      {{in_file + "ca.pem"}, {"no private key"}},
      {{in_file + "mismatch.pem"}, {"the private key does not belong to the first certificate (CN=localhost)"}},
      {{in_file + "locked.pem"}, {"ssl.key.password is not set"}},
      {{in_file + "locked.pem", "ssl.key.password=guess"}, {"is ssl.key.password right?"}},
      {{in_file + "java.jks", "ssl.keystore.type=JKS", "ssl.keystore.password=secret"}, {"keytool -importkeystore"}},
      {{in_file + "java.jks", "ssl.keystore.type=PKCS12", "ssl.keystore.password=secret"}, {"keytool -importkeystore"}},
      {{in_file + "store.p12", "ssl.keystore.type=PKCS12"}, {"ssl.keystore.password is missing"}},
      {{in_file + "store.p12", "ssl.keystore.type=PKCS12", "ssl.keystore.password=guess"}, {"the password is wrong"}},
      {{in_file + "server.pem", "ssl.keystore.type=PKCS12", "ssl.keystore.password=x"}, {"set ssl.keystore.type=PEM"}},
      {{in_file + "server.pem", "ssl.keystore.password=x"},
       {"ssl.keystore.password: listener SSL: a PEM store has none"}},
      {{in_file + "server.pem", "ssl.keystore.type=BKS"}, {"ssl.keystore.type=BKS", "allowed: PEM, PKCS12, JKS"}},
      {{"ssl.keystore.key=" + pem(own_.key)}, {"ssl.keystore.certificate.chain is missing"}},
      {{"ssl.truststore.location=" + path("nobody.pem")}, {"ssl.truststore.location=", "cannot be read"}},
      {{"ssl.truststore.location=" + path("java.jks"), "ssl.truststore.type=JKS"}, {"keytool"}},
      {{"ssl.truststore.location=" + path("empty.pem")}, {"the file is empty"}},
      {{"ssl.enabled.protocols=TLSv1.1"}, {"ssl.enabled.protocols=TLSv1.1", "allowed: TLSv1.2, TLSv1.3"}},
      {{"ssl.cipher.suites=NOPE"}, {"ssl.cipher.suites=NOPE", "NOPE is no cipher suite"}},
      {{"listener.name.ssl.ssl.cipher.suites=NOPE"}, {"listener.name.ssl.ssl.cipher.suites=NOPE"}},
      {{"ssl.principal.mapping.rules=RULE:x"}, {"ssl.principal.mapping.rules=RULE:x", "a slash is missing"}},
  };
  for (const Case& one : cases) {
    const std::string error = open_error(one.settings);
    for (const std::string& word : one.words) EXPECT_THAT(error, HasSubstr(word));
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
    EXPECT_EQ(error.find("guess"), std::string::npos) << error;
  }
}

TEST_F(TlsTest, EveryFormOfAStoreIsRead) {
  write("store.p12", security::test::pkcs12(&own_, {authority_.certificate}, "secret"));
  write("trust.p12", security::test::pkcs12(nullptr, {authority_.certificate}, "secret"));
  const std::string store = "ssl.keystore.location=" + path("store.p12");
  EXPECT_EQ(open_error({}), "");
  for (const char* type : {"PKCS12", "JKS", "pkcs12"})
    EXPECT_EQ(open_error({store, std::string("ssl.keystore.type=") + type, "ssl.keystore.password=secret",
                          "ssl.truststore.location=" + path("trust.p12"), std::string("ssl.truststore.type=") + type,
                          "ssl.truststore.password=secret", "ssl.client.auth=required"}),
              "");
  // The default type, a listener's own keys over the others.
  EXPECT_EQ(
      open_error({"listener.name.ssl.ssl.keystore.location=" + path("store.p12"),
                  "listener.name.ssl.ssl.keystore.type=PKCS12", "listener.name.ssl.ssl.keystore.password=secret"}),
      "");
}

TEST_F(TlsTest, ACertificateMakesAPrincipal) {
  const auto listener_of = [this](const std::string& rules) {
    const auto config = config::load_broker_config(
        {.file = std::nullopt, .overrides = settings({"ssl.principal.mapping.rules=" + rules})});
    EXPECT_TRUE(config) << config.error();
    const config::Endpoint endpoint{.listener = "SSL", .protocol = config::SecurityProtocol::ssl, .host = "127.0.0.1"};
    auto listener = TlsListener::open(*config, endpoint, clock_);
    EXPECT_TRUE(listener) << listener.error();
    return std::move(*listener);
  };
  const Pair kate = make_client("Kate", authority_);
  const auto plain = listener_of("DEFAULT");
  EXPECT_EQ(plain->principal_of(nullptr)->str(), "User:ANONYMOUS");
  EXPECT_EQ(plain->principal_of(kate.certificate.get())->str(), "User:CN=Kate,OU=clients,O=Test");
  const auto mapped = listener_of("RULE:^CN=(.*?),.*$/$1/L");
  EXPECT_EQ(mapped->principal_of(kate.certificate.get())->str(), "User:kate");
  const auto narrow = listener_of("RULE:^CN=(.*?),OU=none$/$1/");
  ASSERT_FALSE(narrow->principal_of(kate.certificate.get()));
  EXPECT_THAT(narrow->principal_of(kate.certificate.get()).error(), HasSubstr("CN=Kate,OU=clients,O=Test"));
}

// What a stream sends where the socket takes little at a time: memory in small and in large pieces, and ranges of
// files.
class TlsStreamTest : public TlsTest {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    tls_ = *runtime::make_tls_context(
        {.protocols = {"TLSv1.2", "TLSv1.3"}, .cipher_suites = {}, .key = own_.key, .chain = {own_.certificate}});
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(::listen(listener_, 1), 0);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    core_.start("tls");
  }
  void TearDown() override {
    core_.stop();
    ::close(listener_);
    TlsTest::TearDown();
  }

  static Awaitable<void> send_all(std::unique_ptr<runtime::TlsStream> stream, base::BufferChain chain,
                                  base::BufferChain more, std::promise<std::string>& done) {
    const auto agreed = co_await stream->handshake();
    std::string why = agreed ? "" : agreed.error().what;
    std::uint64_t from = 0;
    bool grown = false;
    while (why.empty() && from < chain.size()) {
      const auto sent = stream->write_now(chain, from);
      if (!sent) {
        why = sent.error().what;
        break;
      }
      from += *sent;
      // An answer that gets ready meanwhile is put behind, as a connection does.
      if (!std::exchange(grown, true)) chain.append(more);
      if (from < chain.size() && !co_await stream->writable()) why = "closed";
    }
    stream->close();
    done.set_value(why);
  }

  runtime::TlsContext tls_;
  runtime::Core core_{0, clock_};
  int listener_ = -1;
  std::uint16_t port_ = 0;
};

TEST_F(TlsStreamTest, SendsMemoryAndFilesInOrderHoweverSlowlyTheyAreTaken) {
  std::string content(3 << 20, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 2654435761U >> 13);
  write("segment", content);
  const auto files = runtime::make_system_file_system();
  const std::shared_ptr<runtime::File> file = *files->open(path("segment"), runtime::OpenMode::read);
  base::BufferChain chain;
  std::string expected;
  const auto add_memory = [&](base::BufferChain& to, std::size_t size) {
    const std::string bytes = content.substr(expected.size() % 1000, size);
    to.append(base::Bytes::copy_of(bytes));
    expected += bytes;
  };
  const auto add_file = [&](base::BufferChain& to, std::uint64_t position, std::uint64_t size) {
    to.append_external(file, position, size);
    expected += content.substr(position, size);
  };
  add_memory(chain, 10);
  add_memory(chain, 1);
  add_file(chain, 5, 100);
  add_memory(chain, 200'000);
  add_file(chain, 1, (3 << 20) - 1);
  add_memory(chain, 16'384);
  add_memory(chain, 3);
  add_file(chain, 70'000, 20'000);
  base::BufferChain more;
  add_memory(more, 7);
  add_file(more, 0, 2 << 20);

  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Client client(port_, {.trusts = &authority_, .version = version});
    const int small = 32'768;
    ::setsockopt(client.socket().fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    const int accepted = ::accept(listener_, nullptr, nullptr);
    ::setsockopt(accepted, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    std::promise<std::string> done;
    core_.post([&] {
      auto socket = std::make_unique<runtime::TcpStream>(
          boost::asio::ip::tcp::socket(core_.context(), boost::asio::ip::tcp::v4(), accepted));
      core_.spawn(
          send_all(std::make_unique<runtime::TlsStream>(std::move(socket), tls_.context.get()), chain, more, done));
    });
    ASSERT_TRUE(client.shake()) << client.error();
    const std::string got = client.receive(expected.size());
    EXPECT_EQ(done.get_future().get(), "");
    EXPECT_TRUE(got == expected) << "got " << got.size() << " bytes of " << expected.size();
    EXPECT_EQ(client.receive(1), "");
    EXPECT_EQ(client.error(), "good-bye");
  }
}

TEST_F(TlsStreamTest, AFileThatEndsBeforeItsRangeEndsTheStream) {
  write("segment", "short");
  const auto files = runtime::make_system_file_system();
  base::BufferChain chain;
  chain.append_external(*files->open(path("segment"), runtime::OpenMode::read), 0, 100);
  Client client(port_, {.trusts = &authority_});
  const int accepted = ::accept(listener_, nullptr, nullptr);
  std::promise<std::string> done;
  core_.post([&] {
    auto socket = std::make_unique<runtime::TcpStream>(
        boost::asio::ip::tcp::socket(core_.context(), boost::asio::ip::tcp::v4(), accepted));
    core_.spawn(send_all(std::make_unique<runtime::TlsStream>(std::move(socket), tls_.context.get()), chain, {}, done));
  });
  ASSERT_TRUE(client.shake()) << client.error();
  EXPECT_EQ(done.get_future().get(), "the file ends before the range");
  EXPECT_EQ(client.receive(1), "");
}

}  // namespace
}  // namespace thalweg::server
