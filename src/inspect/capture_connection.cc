#include "inspect/capture_connection.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/endian.h"

namespace thalweg::inspect {

using base::load_be;
using Span = std::span<const std::uint8_t>;

namespace {

constexpr std::size_t kSizeField = 4;
// Size, API key, version, correlation id.
constexpr std::size_t kRequestStart = kSizeField + 2 + 2 + 4;
// And the length of the client id.
constexpr std::size_t kRequestHead = kRequestStart + 2;
// Size, correlation id.
constexpr std::size_t kResponseHead = kSizeField + 4;
constexpr std::size_t kErrorCode = 2;

constexpr int kApiVersions = 18;
constexpr int kProduce = 0;
constexpr int kSaslHandshake = 17;
constexpr std::int16_t kUnsupportedVersion = 35;

// What may be believed to be an API or a version of a later Kafka.
constexpr int kFarthestApi = 1000;
constexpr int kFarthestVersion = 100;
// A connection that may begin anywhere, and in which so much looked like no request, is none of Kafka's.
constexpr std::uint64_t kMostSearched = std::uint64_t{4} << 20U;
// A client id in a list; more of it tells nobody anything.
constexpr std::size_t kMostClientId = 255;

bool is_printable(Span text) {
  return std::ranges::all_of(text, [](std::uint8_t c) { return c >= 0x20 && c != 0x7f; });
}

// A record of TLS in which a client says hello.
bool is_tls(Span bytes) { return bytes.size() >= 3 && bytes[0] == 0x16 && bytes[1] == 0x03 && bytes[2] <= 0x04; }

}  // namespace

CaptureContext::CaptureContext(const Catalog& catalog, bool keep, ExchangeSink& exchange_sink)
    : keep_frames(keep), sink(exchange_sink) {
  for (const Subject& subject : catalog.subjects()) {
    if (subject.family != Family::api || !subject.key || *subject.key < 0) continue;
    const auto key = static_cast<std::size_t>(*subject.key);
    if (apis_.size() <= key) apis_.resize(key + 1);
    apis_[key] = {.request = subject.first,
                  .response = subject.second,
                  .name = subject.name,
                  .request_programs = {},
                  .response_programs = {}};
  }
}

const CaptureApi* CaptureContext::api(int key) const {
  if (key < 0 || static_cast<std::size_t>(key) >= apis_.size()) return nullptr;
  const CaptureApi& api = apis_[static_cast<std::size_t>(key)];
  return api.request == nullptr || api.response == nullptr ? nullptr : &api;
}

const SkimProgram* CaptureContext::program(std::vector<const SkimProgram*>& known, const schema::Message& message,
                                           int version, bool plain_header) {
  if (!message.versions.contains(version)) return nullptr;
  const auto index = static_cast<std::size_t>(version);
  if (known.size() <= index) known.resize(index + 1);
  if (known[index] == nullptr)
    known[index] = &programs_.of(message, version, !plain_header && message.flexible.contains(version));
  return known[index];
}

const SkimProgram* CaptureContext::request_program(int key, int version) {
  if (api(key) == nullptr) return nullptr;
  CaptureApi& known = apis_[static_cast<std::size_t>(key)];
  return program(known.request_programs, known.request->message, version, false);
}

const SkimProgram* CaptureContext::response_program(int key, int version) {
  if (api(key) == nullptr) return nullptr;
  CaptureApi& known = apis_[static_cast<std::size_t>(key)];
  return program(known.response_programs, known.response->message, version, key == kApiVersions);
}

CaptureConnection::CaptureConnection(CaptureContext& context, const Endpoint& first, const Endpoint& second, int server)
    : context_(context),
      endpoints_{first, second},
      lanes_{Lane{*this, context.budget}, Lane{*this, context.budget}},
      client_(static_cast<std::int8_t>(server < 0 ? -1 : 1 - server)) {
  if (!context.by_shape) {
    verdict_ = Verdict::kafka;
    ++context_.counts.kafka_connections;
  }
}

CaptureConnection::~CaptureConnection() {
  for (const std::unique_ptr<Exchange>& exchange : pending_) {
    drop(exchange->request);
    drop(exchange->response);
  }
  if (answering_) {
    drop(answering_->request);
    drop(answering_->response);
  }
  context_.pending -= pending_.size();
}

void CaptureConnection::segment(int direction, const TcpSegment& segment) {
  if (verdict_ == Verdict::other) return;
  Lane& lane = lanes_[static_cast<std::size_t>(direction)];
  Lane& other = lanes_[1 - static_cast<std::size_t>(direction)];
  // Whoever sends a SYN without an acknowledgement is the client.
  if (segment.syn && client_ < 0) client_ = static_cast<std::int8_t>(segment.ack ? 1 - direction : direction);
  const bool carries = segment.syn || segment.fin || !segment.payload.empty() || segment.cut > 0;
  if (!lane.begun && carries) begin(lane, segment.syn);
  if (segment.ack) other.stream.acknowledge(segment.acknowledged, context_.now_ns, other);
  if (carries) lane.stream.segment(segment, context_.now_ns, lane);
  reset_ |= segment.rst;
  if (verdict_ == Verdict::other) become_other();
}

void CaptureConnection::begin(Lane& lane, bool syn) {
  lane.begun = true;
  if (syn) {
    lane.state = State::head;
    lane.confirmed = !context_.by_shape || !is_client(lane);
  } else {
    lane.disturbed = true;
  }
}

bool CaptureConnection::is_new_connection(int direction, const TcpSegment& segment) const {
  const Lane& lane = lanes_[static_cast<std::size_t>(direction)];
  return segment.syn && lane.stream.started() &&
         (!lane.stream.from_start() || lane.stream.initial_sequence() != segment.sequence);
}

bool CaptureConnection::ended() const { return reset_ || (lanes_[0].stream.ended() && lanes_[1].stream.ended()); }

void CaptureConnection::finish() {
  if (verdict_ == Verdict::other) return;
  // The client's first: its requests are what the answers are paired with.
  const std::size_t first = client_ < 0 ? 0 : client();
  for (const std::size_t i : {first, 1 - first}) lanes_[i].stream.finish(lanes_[i]);
  if (client_ < 0) return;
  // The capture may end within a message.
  if (client_lane().exchange != nullptr) client_lane().exchange->request.missing += client_lane().left;
  if (answering_) {
    answering_->response.missing += server_lane().left;
    answering_->outcome = Exchange::Outcome::answered;
    report(std::move(answering_));
  }
  report_unanswered(pending_.size());
}

void CaptureConnection::become_other() {
  verdict_ = Verdict::other;
  for (Lane& lane : lanes_) {
    lane.head = {};
    lane.state = State::search;
  }
}

// -- bytes --

void CaptureConnection::consume(Lane& lane, Span bytes) {
  while (!bytes.empty() && verdict_ != Verdict::other) {
    switch (lane.state) {
      case State::search:
        return search(lane, bytes);
      case State::head:
        bytes = bytes.subspan(consume_head(lane, bytes));
        break;
      case State::body:
        bytes = bytes.subspan(consume_body(lane, bytes));
        break;
    }
  }
}

std::size_t CaptureConnection::consume_head(Lane& lane, Span bytes) {
  if (lane.head.empty()) lane.began_ns = context_.now_ns;
  std::size_t used = 0;
  // A head is read in steps, as each part says how long the next is.
  while (lane.state == State::head) {
    const bool request = is_client(lane);
    std::size_t need = lane.head.empty() ? head_at_once(bytes.subspan(used), request) : kSizeField;
    if (lane.head.size() >= kSizeField) {
      const auto size = load_be<std::int32_t>(lane.head.data());
      const auto least = request ? kRequestHead - kSizeField : kResponseHead - kSizeField;
      const bool small = size < static_cast<std::int32_t>(least);
      if (small && sasl_tokens_ && size >= 0) {
        begin_body(lane, static_cast<std::uint64_t>(size), nullptr);
        break;
      }
      if (small || static_cast<std::uint32_t>(size) > CaptureContext::kMostFrame) {
        refuse_head(lane);
        break;
      }
      need = request ? kRequestHead : kResponseHead;
      if (request && lane.head.size() >= kRequestHead) {
        const auto id_size = load_be<std::int16_t>(lane.head.data() + kRequestStart);
        if (id_size > 0 && id_size <= size - static_cast<std::int32_t>(least))
          need += static_cast<std::size_t>(id_size);
      }
      // The error code in front of every answer to ApiVersions tells the version of the rest.
      if (!request && lane.exchange != nullptr && size >= static_cast<std::int32_t>(least + kErrorCode))
        need += kErrorCode;
    }
    const std::size_t wanted = need - std::min(need, lane.head.size());
    if (wanted > 0) {
      const std::size_t n = std::min(wanted, bytes.size() - used);
      if (n == 0) break;
      lane.head.insert(lane.head.end(), bytes.begin() + static_cast<std::ptrdiff_t>(used),
                       bytes.begin() + static_cast<std::ptrdiff_t>(used + n));
      used += n;
      if (n < wanted) break;
    }
    if (lane.head.size() > kSizeField && !(request ? request_head(lane) : response_head(lane))) break;
  }
  return used;
}

std::size_t CaptureConnection::consume_body(Lane& lane, Span bytes) {
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(lane.left, bytes.size()));
  const Span mine = bytes.first(n);
  if (lane.skimming) lane.skim.feed(mine);
  if (only_looked_like_a_frame(lane)) {
    drop_frame(lane);
    search(lane, mine);
    return n;
  }
  if (lane.exchange != nullptr) keep(is_client(lane) ? lane.exchange->request : lane.exchange->response, mine);
  lane.left -= n;
  if (lane.left == 0) end_frame(lane);
  return n;
}

// What stands in the head cannot begin a frame.
void CaptureConnection::refuse_head(Lane& lane) {
  if (verdict_ != Verdict::undecided || lane.disturbed || !is_client(lane)) return lose_sync(lane);
  // The first thing that a client says is no request.
  if (is_tls(lane.head)) ++context_.counts.tls_connections;
  verdict_ = Verdict::other;
}

// What of a head that begins here may be taken in one step, as nothing that it says needs a closer look: most often the
// whole of it.
std::size_t CaptureConnection::head_at_once(Span bytes, bool request) {
  const std::size_t usual = request ? kRequestHead : kResponseHead;
  if (bytes.size() < usual) return kSizeField;
  const auto size = load_be<std::int32_t>(bytes.data());
  if (size < static_cast<std::int32_t>(usual - kSizeField) ||
      static_cast<std::uint32_t>(size) > CaptureContext::kMostFrame)
    return kSizeField;
  if (!request) return usual;
  const auto id_size = load_be<std::int16_t>(bytes.data() + kRequestStart);
  const bool here = id_size > 0 && id_size <= size - static_cast<std::int32_t>(usual - kSizeField) &&
                    static_cast<std::size_t>(id_size) <= bytes.size() - usual;
  return here ? usual + static_cast<std::size_t>(id_size) : usual;
}

// The head has all that it said it needs. Returns false where it is no head, or the body has begun.
bool CaptureConnection::request_head(Lane& lane) {
  const std::uint8_t* p = lane.head.data();
  const auto size = load_be<std::int32_t>(p);
  const auto key = load_be<std::int16_t>(p + kSizeField);
  const auto version = load_be<std::int16_t>(p + kSizeField + 2);
  const auto id_size = load_be<std::int16_t>(p + kRequestStart);
  const std::int32_t id_room = size - static_cast<std::int32_t>(kRequestHead - kSizeField);
  const bool known = context_.request_program(key, version) != nullptr ||
                     (key == kApiVersions && version >= 0 && version <= kFarthestVersion);
  const bool possible = key >= 0 && key <= kFarthestApi && version >= 0 && version <= kFarthestVersion;
  const bool believed = known || (possible && lane.confirmed && !sasl_tokens_);
  if (believed && id_size >= -1 && id_size <= id_room) {
    const std::size_t id_bytes = id_size > 0 ? static_cast<std::size_t>(id_size) : 0;
    if (lane.head.size() < kRequestHead + id_bytes) return true;  // the id is to come
    if (is_printable(Span(lane.head).subspan(kRequestHead))) {
      begin_request(lane, static_cast<std::uint32_t>(size), id_bytes);
      return false;
    }
  }
  if (sasl_tokens_) {
    // A token. It is longer than a request's head, and some of it stands there.
    begin_body(lane, static_cast<std::uint64_t>(size) + kSizeField - lane.head.size(), nullptr);
  } else {
    refuse_head(lane);
  }
  return false;
}

void CaptureConnection::begin_request(Lane& lane, std::uint32_t size, std::size_t id_size) {
  if (verdict_ == Verdict::undecided) {
    verdict_ = Verdict::kafka;
    ++context_.counts.kafka_connections;
  }
  const std::uint8_t* p = lane.head.data();
  auto exchange = std::make_unique<Exchange>();
  exchange->client = endpoints_[client()];
  exchange->server = endpoints_[1 - client()];
  exchange->api_key = load_be<std::int16_t>(p + 4);
  exchange->version = load_be<std::int16_t>(p + 6);
  exchange->response_version = exchange->version;
  exchange->correlation_id = load_be<std::int32_t>(p + 8);
  if (load_be<std::int16_t>(p + kRequestStart) >= 0) {
    // A connection has one client id, nearly always.
    const std::string_view id(reinterpret_cast<const char*>(p + kRequestHead), std::min(id_size, kMostClientId));
    if (!client_id_ || *client_id_ != id) client_id_ = std::make_shared<const std::string>(id);
    exchange->client_id = client_id_;
  }
  exchange->guessed = !lane.confirmed;
  exchange->request.begin_ns = lane.began_ns;
  exchange->request.size = std::uint64_t{size} + kSizeField;
  if (pending_.size() >= CaptureContext::kMostPendingHere || context_.pending >= CaptureContext::kMostPending)
    report_unanswered(std::min<std::size_t>(1, pending_.size()));
  lane.exchange = exchange.get();
  keep(exchange->request, lane.head);
  const SkimProgram* program = context_.request_program(exchange->api_key, exchange->version);
  sasl_tokens_ = exchange->api_key == kSaslHandshake && exchange->version == 0;
  pending_.push_back(std::move(exchange));
  ++context_.pending;
  begin_body(lane, std::uint64_t{size} + kSizeField - lane.head.size(), program);
}

bool CaptureConnection::response_head(Lane& lane) {
  const auto size = static_cast<std::uint32_t>(load_be<std::int32_t>(lane.head.data()));
  if (lane.exchange != nullptr) {
    begin_response(lane, size);
    return false;
  }
  const auto correlation_id = load_be<std::int32_t>(lane.head.data() + kSizeField);
  std::size_t index = pending_index(correlation_id);
  // An answer shows that the broker had the whole request, so what is missing of it is missing for good.
  while ((index == pending_.size() || client_lane().exchange == pending_[index].get()) &&
         client_lane().stream.give_up_hole(client_lane()))
    index = pending_index(correlation_id);
  if (index == pending_.size()) {
    if (!sasl_tokens_ && (!lane.confirmed || !client_lane().disturbed)) {
      lose_sync(lane);
      return false;
    }
    if (!sasl_tokens_ && verdict_ == Verdict::kafka) ++context_.counts.orphans;
    begin_body(lane, std::uint64_t{size} + kSizeField - lane.head.size(), nullptr);
    return false;
  }
  // A broker answers in order: what was asked before has no answer any more.
  report_unanswered(index);
  answering_ = std::move(pending_.front());
  pending_.pop_front();
  --context_.pending;
  answering_->response.begin_ns = lane.began_ns;
  answering_->response.size = std::uint64_t{size} + kSizeField;
  lane.exchange = answering_.get();
  if (answering_->api_key == kApiVersions && size >= kResponseHead - kSizeField + kErrorCode) return true;
  begin_response(lane, size);
  return false;
}

void CaptureConnection::begin_response(Lane& lane, std::uint32_t size) {
  Exchange& exchange = *lane.exchange;
  if (lane.head.size() == kResponseHead + kErrorCode &&
      load_be<std::int16_t>(lane.head.data() + kResponseHead) == kUnsupportedVersion)
    exchange.response_version = 0;
  keep(exchange.response, lane.head);
  const SkimProgram* program = context_.response_program(exchange.api_key, exchange.response_version);
  // What the head has of the body: the error code, or nothing.
  std::array<std::uint8_t, kErrorCode> begin{};
  const Span body = Span(begin).first(lane.head.size() - kResponseHead);
  std::ranges::copy(Span(lane.head).subspan(kResponseHead), begin.begin());
  begin_body(lane, std::uint64_t{size} + kSizeField - kResponseHead, program);
  // The frame is longer than that, or its end has been met in begin_body().
  if (body.empty()) return;
  if (lane.skimming) lane.skim.feed(body);
  lane.left -= body.size();
  if (lane.left == 0) end_frame(lane);
}

void CaptureConnection::begin_body(Lane& lane, std::uint64_t left, const SkimProgram* program) {
  lane.head.clear();
  lane.state = State::body;
  lane.left = left;
  lane.skimming = program != nullptr;
  if (program != nullptr) lane.skim.start(*program, left);
  if (left == 0) end_frame(lane);
}

// The place of the frame was a guess, and its body shows that it was wrong.
bool CaptureConnection::only_looked_like_a_frame(const Lane& lane) const {
  if (lane.confirmed || !lane.skimming || lane.skim.fault() == nullptr || lane.exchange == nullptr) return false;
  return (is_client(lane) ? lane.exchange->request : lane.exchange->response).missing == 0;
}

// Forgets the frame that is being read.
void CaptureConnection::drop_frame(Lane& lane) {
  if (is_client(lane)) {
    const Exchange* exchange = lane.exchange;
    drop(lane.exchange->request);
    context_.pending -= std::erase_if(pending_, [&](const auto& e) { return e.get() == exchange; });
  }
  lose_sync(lane);
}

void CaptureConnection::end_frame(Lane& lane) {
  if (only_looked_like_a_frame(lane)) return drop_frame(lane);
  lane.state = State::head;
  Exchange* exchange = std::exchange(lane.exchange, nullptr);
  if (exchange == nullptr) return;
  const bool request = is_client(lane);
  CapturedMessage& message = request ? exchange->request : exchange->response;
  if (message.missing == 0) lane.confirmed = true;
  message.end_ns = context_.now_ns;
  if (lane.skimming) message.fault = lane.skim.fault();
  if (request) {
    end_request(lane, *exchange);
  } else {
    end_response(lane);
  }
}

void CaptureConnection::end_request(Lane& lane, Exchange& exchange) {
  if (exchange.api_key != kProduce || !lane.skimming || !lane.skim.saw_acks() || lane.skim.acks() != 0) return;
  const auto it = std::ranges::find(pending_, &exchange, &std::unique_ptr<Exchange>::get);
  if (it == pending_.end()) return;
  std::unique_ptr<Exchange> mine = std::move(*it);
  pending_.erase(it);
  --context_.pending;
  mine->outcome = Exchange::Outcome::unwanted;
  report(std::move(mine));
}

void CaptureConnection::end_response(Lane& lane) {
  answering_->outcome = Exchange::Outcome::answered;
  if (lane.skimming) answering_->errors.assign(lane.skim.errors().begin(), lane.skim.errors().end());
  report(std::move(answering_));
}

// -- what is missing --

void CaptureConnection::lose(Lane& lane, std::uint64_t count) {
  if (verdict_ == Verdict::kafka) {
    ++context_.counts.gaps;
    context_.counts.missing_bytes += count;
  }
  if (lane.state == State::body) {
    const std::uint64_t mine = std::min(count, lane.left);
    if (lane.skimming) lane.skim.lose(mine);
    if (lane.exchange != nullptr) {
      CapturedMessage& message = is_client(lane) ? lane.exchange->request : lane.exchange->response;
      message.missing += mine;
      drop(message);
    }
    lane.left -= mine;
    count -= mine;
    if (lane.left == 0) end_frame(lane);
  }
  if (count > 0) lose_sync(lane);
}

void CaptureConnection::restart() {
  for (Lane& lane : lanes_) {
    lane.exchange = nullptr;
    lane.head.clear();
    lane.state = State::head;
    lose_sync(lane);
  }
  if (answering_) report(std::move(answering_));
  report_unanswered(pending_.size());
}

// -- the next frame --

void CaptureConnection::lose_sync(Lane& lane) {
  lane.state = State::search;
  lane.confirmed = false;
  lane.disturbed = true;
  lane.exchange = nullptr;
  if (verdict_ == Verdict::kafka) ++context_.counts.resynchronised;
  // A response of which no more than the head was seen has not been seen.
  if (answering_ && !is_client(lane)) take_back_response();
  // A frame may begin in what was taken for the head of one.
  const std::vector<std::uint8_t> head = std::exchange(lane.head, {});
  if (head.size() > 1) search(lane, Span(head).subspan(1));
}

void CaptureConnection::take_back_response() {
  drop(answering_->response);
  answering_->response = {};
  answering_->response_version = answering_->version;
  pending_.push_front(std::move(answering_));
  ++context_.pending;
}

void CaptureConnection::search(Lane& lane, Span bytes) {
  lane.head.insert(lane.head.end(), bytes.begin(), bytes.end());
  lane.searched += bytes.size();
  if (client_ < 0 || is_client(lane)) {
    search_requests(lane);
  } else {
    search_responses(lane);
  }
  if (verdict_ == Verdict::undecided && lane.searched > kMostSearched) verdict_ = Verdict::other;
}

void CaptureConnection::search_requests(Lane& lane) {
  std::size_t at = 0;
  Shape shape = Shape::no;
  for (; at < lane.head.size(); ++at) {
    shape = request_shape(Span(lane.head).subspan(at));
    if (shape != Shape::no) break;
  }
  if (shape != Shape::yes) return forget(lane, at);
  if (client_ < 0) {
    // What the other side has said so far answers what the capture lacks.
    client_ = static_cast<std::int8_t>(&lane == lanes_.data() ? 0 : 1);
    server_lane().head = {};
  }
  found(lane, at);
}

void CaptureConnection::search_responses(Lane& lane) {
  std::int32_t lowest = std::numeric_limits<std::int32_t>::max();
  std::int32_t highest = std::numeric_limits<std::int32_t>::min();
  for (const std::unique_ptr<Exchange>& exchange : pending_) {
    lowest = std::min(lowest, exchange->correlation_id);
    highest = std::max(highest, exchange->correlation_id);
  }
  std::size_t at = 0;
  Shape shape = Shape::no;
  for (; at < lane.head.size(); ++at) {
    shape = response_shape(Span(lane.head).subspan(at), lowest, highest);
    if (shape != Shape::no) break;
  }
  if (shape != Shape::yes) return forget(lane, at);
  found(lane, at);
}

// Bytes in which nothing begins.
void CaptureConnection::forget(Lane& lane, std::size_t count) {
  // A copy, so that no more memory stays than is needed: many connections may stand here.
  const auto rest = lane.head.begin() + static_cast<std::ptrdiff_t>(count);
  lane.head = std::vector<std::uint8_t>(rest, lane.head.end());
}

void CaptureConnection::found(Lane& lane, std::size_t at) {
  const std::vector<std::uint8_t> window = std::exchange(lane.head, {});
  lane.state = State::head;
  lane.searched = 0;
  consume(lane, Span(window).subspan(at));
}

CaptureConnection::Shape CaptureConnection::request_shape(Span bytes) {
  if (bytes.size() < kRequestHead) return Shape::more;
  const auto size = load_be<std::int32_t>(bytes.data());
  constexpr std::int32_t kLeast = kRequestHead - kSizeField;
  if (size < kLeast || static_cast<std::uint32_t>(size) > CaptureContext::kMostFrame) return Shape::no;
  const auto id_size = load_be<std::int16_t>(bytes.data() + kRequestStart);
  if (id_size < -1 || id_size > size - kLeast) return Shape::no;
  const SkimProgram* program =
      context_.request_program(load_be<std::int16_t>(bytes.data() + 4), load_be<std::int16_t>(bytes.data() + 6));
  if (program == nullptr) return Shape::no;
  const std::size_t head = kRequestHead + (id_size > 0 ? static_cast<std::size_t>(id_size) : 0);
  if (!is_printable(bytes.first(std::min(head, bytes.size())).subspan(kRequestHead))) return Shape::no;
  if (bytes.size() < head) return Shape::more;
  const auto body = static_cast<std::uint64_t>(size) + kSizeField - head;
  return fits(program, body, bytes.subspan(head)) ? Shape::yes : Shape::no;
}

CaptureConnection::Shape CaptureConnection::response_shape(Span bytes, std::int32_t lowest, std::int32_t highest) {
  if (bytes.size() < kResponseHead + kErrorCode) return Shape::more;
  const auto size = load_be<std::int32_t>(bytes.data());
  if (size < static_cast<std::int32_t>(kResponseHead - kSizeField) ||
      static_cast<std::uint32_t>(size) > CaptureContext::kMostFrame)
    return Shape::no;
  const auto correlation_id = load_be<std::int32_t>(bytes.data() + kSizeField);
  if (correlation_id < lowest || correlation_id > highest) return Shape::no;
  const std::size_t index = pending_index(correlation_id);
  if (index == pending_.size()) return Shape::no;
  const Exchange& exchange = *pending_[index];
  const bool refused =
      exchange.api_key == kApiVersions && load_be<std::int16_t>(bytes.data() + kResponseHead) == kUnsupportedVersion;
  const SkimProgram* program = context_.response_program(exchange.api_key, refused ? 0 : exchange.version);
  const auto body = static_cast<std::uint64_t>(size) + kSizeField - kResponseHead;
  return fits(program, body, bytes.subspan(kResponseHead)) ? Shape::yes : Shape::no;
}

// Whether a body of that size can begin with these bytes, as far as they go.
bool CaptureConnection::fits(const SkimProgram* program, std::uint64_t body_size, Span begin) {
  if (program == nullptr) return true;
  Skim trial;
  trial.start(*program, body_size);
  if (body_size > 0)
    trial.feed(begin.first(static_cast<std::size_t>(std::min<std::uint64_t>(body_size, begin.size()))));
  return trial.fault() == nullptr && (trial.left() > 0 || trial.rest() == 0);
}

// -- exchanges --

void CaptureConnection::keep(CapturedMessage& message, Span bytes) {
  if (!context_.keep_frames || message.missing > 0 || message.too_large) return;
  if (message.size > CaptureContext::kMostKeptFrame || context_.kept + bytes.size() > CaptureContext::kMostKept) {
    drop(message);
    message.too_large = true;
    return;
  }
  context_.kept += bytes.size();
  message.frame.insert(message.frame.end(), bytes.begin(), bytes.end());
}

void CaptureConnection::drop(CapturedMessage& message) {
  context_.kept -= message.frame.size();
  message.frame = {};
}

std::size_t CaptureConnection::pending_index(std::int32_t correlation_id) const {
  const auto it = std::ranges::find_if(pending_, [&](const auto& e) { return e->correlation_id == correlation_id; });
  return static_cast<std::size_t>(it - pending_.begin());
}

void CaptureConnection::report(std::unique_ptr<Exchange> exchange) {
  // The request may still be on its way, where the capture has the answer first.
  for (Lane& lane : lanes_)
    if (lane.exchange == exchange.get()) lane.exchange = nullptr;
  const std::size_t kept = exchange->request.frame.size() + exchange->response.frame.size();
  if (exchange->request.end_ns == 0) exchange->request.frame = {};
  if (exchange->response.end_ns == 0) exchange->response.frame = {};
  context_.sink.exchange(*exchange);
  context_.kept -= kept;
}

void CaptureConnection::report_unanswered(std::size_t count) {
  for (; count > 0; --count) {
    std::unique_ptr<Exchange> exchange = std::move(pending_.front());
    pending_.pop_front();
    --context_.pending;
    // A guess that nothing bears out: neither its end nor an answer.
    if (exchange->guessed && exchange->request.end_ns == 0) {
      drop(exchange->request);
      if (client_lane().exchange == exchange.get()) client_lane().exchange = nullptr;
      continue;
    }
    report(std::move(exchange));
  }
}

}  // namespace thalweg::inspect
