#include "inspect/decode.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "inspect/print.h"
#include "inspect/records_json.h"
#include "inspect/secrets.h"
#include "protocol/messages/api_versions_response.h"
#include "protocol/messages/consumer_protocol_subscription.h"
#include "protocol/messages/delete_topics_request.h"
#include "protocol/messages/delete_topics_response.h"
#include "protocol/messages/envelope_request.h"
#include "protocol/messages/envelope_response.h"
#include "protocol/messages/incremental_alter_configs_request.h"
#include "protocol/messages/join_group_request.h"
#include "protocol/messages/offset_commit_key.h"
#include "protocol/messages/offset_commit_value.h"
#include "protocol/messages/push_telemetry_request.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::inspect {
namespace {

using base::Bytes;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Catalog& catalog() { return Catalog::built_in(); }

Bytes hex(std::string_view digits) { return Bytes::copy_of(*base::hex_decode(digits)); }
std::span<const std::uint8_t> span_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Envelope body_of(std::string_view name, int version) {
  return {.message = &catalog().find(name)->message, .version = version};
}

// The body of a message; what comes first stands in front of it.
template <class M>
Bytes encode(const M& message, int version, std::optional<std::int16_t> first = std::nullopt) {
  protocol::Writer writer;
  if (first) writer.fixed(*first);
  message.encode(writer, version);
  return std::move(writer).finish().flatten();
}

std::string text_of(const Decoded& decoded, const Bytes& bytes) {
  EXPECT_TRUE(covers(decoded.tree));
  return decoded_text(decoded, bytes);
}
std::string text_of(const Envelope& envelope, const Bytes& bytes, const DecodeOptions& options = {}) {
  return text_of(decode(catalog(), envelope, bytes, options), bytes);
}

Bytes batch_of(std::string_view key, std::string_view value, protocol::BatchOptions options = {}) {
  protocol::RecordBatchBuilder builder(options);
  protocol::RecordInput input;
  input.offset = options.base_offset;
  input.timestamp = 1704067200000;
  input.key = span_of(key);
  input.value = span_of(value);
  builder.append(input);
  return builder.build();
}

// -- which message --

TEST(RecognizeRequest, KnowsApiVersionAndHeader) {
  const auto metadata = recognize_request(catalog(), hex("00000000"
                                                         "0003000c")
                                                         .span());
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->message->name, "MetadataRequest");
  EXPECT_EQ(metadata->version, 12);
  EXPECT_EQ(metadata->header_version, 2);
  EXPECT_EQ(recognize_request(catalog(), hex("00000000"
                                             "00030008")
                                             .span())
                ->header_version,
            1);
}

TEST(RecognizeRequest, SaysWhyItIsNone) {
  EXPECT_EQ(recognize_request(catalog(), hex("0000000000030"
                                             "0")
                                             .span())
                .error(),
            "7 bytes, too few for a request");
  EXPECT_EQ(recognize_request(catalog(), hex("0000000012670000").span()).error(), "no API has the key 4711");
  EXPECT_EQ(recognize_request(catalog(), hex("0000000000030064").span()).error(),
            "MetadataRequest has no version 100: its versions are 0-14");
}

TEST(FrameSize, CountsItsOwnFourBytes) {
  EXPECT_EQ(frame_size(hex("00000005").span()), 9U);
  EXPECT_EQ(frame_size(hex("000005").span()), std::nullopt);
  EXPECT_EQ(frame_size(hex("ffffffff").span()), std::nullopt);
  EXPECT_EQ(frame_size(hex("00000005").span(), 4), std::nullopt);
}

// -- faults --

TEST(Decode, AFaultSaysWhatWasExpectedAndWhatStandsThere) {
  const Bytes bytes = hex("00000002000174000a7461");
  const std::string text = text_of(body_of("MetadataRequest", 0), bytes);
  EXPECT_THAT(text,
              AllOf(HasSubstr("Name string = \"t\""), HasSubstr("These bytes do not parse."),
                    HasSubstr("field      MetadataRequest.Topics[1].Name\n"), HasSubstr("offset     9 (0x0009)\n"),
                    HasSubstr("expected   string\n"), HasSubstr("found      74 61 and the end\n"),
                    HasSubstr("fault      a length beyond the end\n")));
  EXPECT_EQ(fault_line(decode(catalog(), body_of("MetadataRequest", 0), bytes)),
            "MetadataRequest.Topics[1].Name at byte 9: a length beyond the end");
}

TEST(Decode, AnAnswerInTheOldestVersionOfApiVersionsIsRead) {
  protocol::ApiVersionsResponse response;
  response.error_code = protocol::ErrorCode::unsupported_version;
  response.api_keys.push_back({.api_key = 18, .min_version = 0, .max_version = 4});
  protocol::Writer writer;
  writer.fixed<std::int32_t>(0);
  writer.fixed<std::int32_t>(7);
  response.encode(writer, 0);
  writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - 4));
  const Bytes frame = std::move(writer).finish().flatten();
  const auto asked = api_envelope(catalog(), 18, 4, Side::second);
  const Decoded decoded = decode(catalog(), *asked, frame);
  EXPECT_FALSE(decoded.fault);
  EXPECT_EQ(decoded.envelope.version, 0);
  EXPECT_THAT(text_of(decoded, frame), HasSubstr("ErrorCode int16 = 35 (UNSUPPORTED_VERSION)"));
}

// -- what is inside --

protocol::JoinGroupRequest join_request(const Bytes& metadata, std::string_view type = "consumer") {
  protocol::JoinGroupRequest request;
  request.group_id = protocol::GroupId(std::string_view("g"));
  request.protocol_type = type;
  request.protocols.push_back({.name = "range", .metadata = metadata});
  return request;
}

Bytes subscription() {
  protocol::ConsumerProtocolSubscription subscription;
  subscription.topics.push_back("orders");
  return encode(subscription, 1, std::int16_t{1});
}

TEST(Decode, SubscriptionsOfConsumersAreOpened) {
  const Bytes bytes = encode(join_request(subscription()), 5);
  const std::string text = text_of(body_of("JoinGroupRequest", 5), bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("ConsumerProtocolSubscription message v1"), HasSubstr("string = \"orders\"")));
  // Of another protocol they stay closed.
  const Bytes other = encode(join_request(subscription(), "connect"), 5);
  EXPECT_THAT(text_of(body_of("JoinGroupRequest", 5), other), Not(HasSubstr("ConsumerProtocolSubscription")));
}

TEST(Decode, WhatWasOpenedStandsWhereItStands) {
  const Bytes bytes = encode(join_request(subscription()), 5);
  const std::size_t place = bytes.view().find("orders") - 2;
  EXPECT_THAT(text_of(body_of("JoinGroupRequest", 5), bytes),
              HasSubstr(fmt::format("string = \"orders\" (int16 len=6) [{:#06x}, 8B]", place)));
}

TEST(Decode, ADamagedSubscriptionIsNoFaultOfTheMessage) {
  const Bytes bytes = encode(join_request(hex("00010000000900")), 5);
  const Decoded decoded = decode(catalog(), body_of("JoinGroupRequest", 5), bytes);
  EXPECT_FALSE(decoded.fault);
  EXPECT_THAT(text_of(decoded, bytes), HasSubstr("damaged: ConsumerProtocolSubscription.Topics"));
}

TEST(Decode, WithoutAProtocolTypeAllTheBytesMustFit) {
  // SyncGroupResponse v0: throttle no, error 0, assignment of 2+4+4 bytes.
  const Bytes fits =
      hex("0000"
          "0000000a"
          "000000000000ffffffff");
  EXPECT_THAT(text_of(body_of("SyncGroupResponse", 0), fits), HasSubstr("ConsumerProtocolAssignment message v0"));
  const Bytes more =
      hex("0000"
          "0000000b"
          "000000000000ffffffff00");
  EXPECT_THAT(text_of(body_of("SyncGroupResponse", 0), more), Not(HasSubstr("ConsumerProtocolAssignment")));
}

TEST(OpenedJson, HasPathMessageAndJson) {
  const Bytes bytes = encode(join_request(subscription()), 5);
  const auto found = opened_json(catalog(), body_of("JoinGroupRequest", 5), bytes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "protocols[0].metadata");
  EXPECT_EQ(found[0].json,
            R"("message":"ConsumerProtocolSubscription","version":1,"json":{"topics":["orders"],"userData":null,)"
            R"("ownedPartitions":[]})");
}

Bytes offset_commit(protocol::BatchOptions options = {}) {
  const protocol::OffsetCommitKey key{.group = "g", .topic = "t", .partition = 3};
  protocol::OffsetCommitValue value;
  value.offset = 42;
  const Bytes key_bytes = encode(key, 0, std::int16_t{1});
  const Bytes value_bytes = encode(value, 3, std::int16_t{3});
  return batch_of(key_bytes.view(), value_bytes.view(), options);
}

TEST(DecodeRecords, RecordsOfTheCoordinatorsAreOpenedWhereTheTopicIsKnown) {
  const Bytes batch = offset_commit();
  DecodeOptions options;
  options.walk.topic = "__consumer_offsets";
  const std::string text = text_of(decode_records(catalog(), batch, options), batch);
  EXPECT_THAT(text, AllOf(HasSubstr("OffsetCommitKey message v0"), HasSubstr("partition int32 = 3"),
                          HasSubstr("OffsetCommitValue message v3"), HasSubstr("offset int64 = 42")));
  EXPECT_THAT(text_of(decode_records(catalog(), batch), batch), Not(HasSubstr("OffsetCommitKey")));
  protocol::Decompressor decompressor;
  EXPECT_THAT(
      records_json(catalog(), batch.span(), decompressor, {.opened = true, .topic = "__consumer_offsets"}),
      HasSubstr(R"("opened":{"key":{"message":"OffsetCommitKey","version":0,"json":{"group":"g","topic":"t",)"));
}

TEST(DecodeRecords, CompressedRecordsCountInTheirOwnBytes) {
  const Bytes batch = offset_commit({.compression = protocol::CompressionType::zstd, .base_offset = 7});
  DecodeOptions options;
  options.walk.topic = "__consumer_offsets";
  const std::string text = text_of(decode_records(catalog(), batch, options), batch);
  EXPECT_THAT(
      text, AllOf(HasSubstr("zstd, "), HasSubstr("Record[0] Record [unpacked 0x0000, "),
                  HasSubstr("offset 7, 2024-01-01T00:00:00.000Z"), HasSubstr("OffsetCommitKey message v0 [unpacked")));
}

TEST(DecodeRecords, WhatUnpacksToMoreThanTheLimitStaysClosed) {
  const std::string zeros(100'000, '\0');
  const Bytes batch = batch_of("k", zeros, {.compression = protocol::CompressionType::gzip});
  DecodeOptions options;
  options.walk.max_unpacked_bytes = 50'000;
  const std::string text = text_of(decode_records(catalog(), batch, options), batch);
  EXPECT_THAT(text, AllOf(HasSubstr("not opened"), Not(HasSubstr("Record[0]"))));
  options.walk.max_unpacked_bytes = 150'000;
  EXPECT_THAT(text_of(decode_records(catalog(), batch, options), batch), HasSubstr("Record[0]"));
  // The limit is one for all batches together.
  const Bytes two = Bytes::copy_of(std::string(batch.view()) + std::string(batch.view()));
  const std::string both = text_of(decode_records(catalog(), two, options), two);
  EXPECT_THAT(both, AllOf(HasSubstr("Record[0]"), HasSubstr("not opened")));
}

TEST(DecodeRecords, ControlRecordsAreOpened) {
  const Bytes batch = batch_of(std::string_view("\0\0\0\1", 4), std::string_view("\0\0\0\0\0\5", 6),
                               {.producer_id = 1, .producer_epoch = 0, .transactional = true, .control = true});
  const std::string text = text_of(decode_records(catalog(), batch), batch);
  EXPECT_THAT(text, AllOf(HasSubstr("ControlRecordTypeSchema message v0"), HasSubstr("Type int16 = 1"),
                          HasSubstr("EndTxnMarker message v0"), HasSubstr("CoordinatorEpoch int32 = 5")));
}

TEST(DecodeRecords, DamageIsSeen) {
  const Bytes whole = offset_commit();
  EXPECT_FALSE(has_damage(decode_records(catalog(), whole).tree));
  EXPECT_FALSE(has_damage(decode_records(catalog(), whole.first(40)).tree));
  std::string spoilt(whole.view());
  spoilt[61] = '\x7f';
  EXPECT_TRUE(has_damage(decode_records(catalog(), Bytes::copy_of(spoilt)).tree));
}

TEST(Decode, MetricsAreOpenedByWhoeverKnowsThem) {
  const std::string metrics = "metrics";
  protocol::PushTelemetryRequest request;
  request.compression_type = 1;
  request.metrics = protocol::compress(protocol::CompressionType::gzip, std::nullopt, span_of(metrics));
  const Bytes bytes = encode(request, 0);
  std::string seen;
  DecodeOptions options;
  options.telemetry = [&](std::span<const std::uint8_t> content) {
    seen.assign(content.begin(), content.end());
    Node node;
    node.name = "Metrics";
    node.size = content.size();
    return std::vector<Node>{node};
  };
  const std::string text = text_of(body_of("PushTelemetryRequest", 0), bytes, options);
  EXPECT_EQ(seen, metrics);
  EXPECT_THAT(text, AllOf(HasSubstr("gzip, 7 bytes unpacked"), HasSubstr("Metrics [unpacked 0x0000, 7B]")));
}

// -- Envelope --

// A request or response without its size, as Envelope carries it.
template <class M>
Bytes headed(const M& message, int version, int header_version) {
  protocol::Writer writer;
  if (header_version >= 1 && M::kName.ends_with("Request")) {
    writer.fixed(static_cast<std::int16_t>(M::kApiKey));
    writer.fixed(static_cast<std::int16_t>(version));
  }
  writer.fixed<std::int32_t>(7);
  if (M::kName.ends_with("Request")) writer.string("admin", false);
  if (header_version >= (M::kName.ends_with("Request") ? 2 : 1)) writer.uvarint(0);
  message.encode(writer, version);
  return std::move(writer).finish().flatten();
}

TEST(Envelope, TheRequestInsideIsOpened) {
  protocol::DeleteTopicsRequest inner;
  inner.topics.emplace_back().name = "orders";
  protocol::EnvelopeRequest request;
  request.request_data = headed(inner, 6, 2);
  const Bytes bytes = encode(request, 0);
  const Decoded decoded = decode(catalog(), body_of("EnvelopeRequest", 0), bytes);
  EXPECT_FALSE(decoded.secrets);
  EXPECT_THAT(text_of(decoded, bytes),
              AllOf(HasSubstr("DeleteTopicsRequest message v6 [0x0001,"), HasSubstr("correlation_id int32 = 7"),
                    HasSubstr("client_id nullable_string = \"admin\""), HasSubstr("\"orders\"")));
  ASSERT_TRUE(decoded.enveloped);
  EXPECT_EQ(decoded.enveloped->message->name, "DeleteTopicsResponse");
  EXPECT_EQ(decoded.enveloped->version, 6);
  const auto opened = opened_json(catalog(), body_of("EnvelopeRequest", 0), bytes);
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_EQ(opened[0].path, "requestData");
  EXPECT_THAT(opened[0].json, AllOf(HasSubstr("\"message\":\"DeleteTopicsRequest\",\"version\":6,\"header\":{"),
                                    HasSubstr("\"name\":\"orders\"")));
}

TEST(Envelope, TheResponseInsideIsOpenedWhereItIsKnownWhatItIs) {
  protocol::DeleteTopicsResponse inner;
  inner.responses.emplace_back().name = "orders";
  protocol::EnvelopeResponse response;
  response.response_data = headed(inner, 6, 1);
  const Bytes bytes = encode(response, 0);
  const Envelope envelope = body_of("EnvelopeResponse", 0);
  const std::string closed = text_of(envelope, bytes);
  EXPECT_THAT(closed, AllOf(HasSubstr("ResponseData bytes = redacted"), Not(HasSubstr("orders"))));
  const auto known = api_envelope(catalog(), 20, 6, Side::second);
  ASSERT_TRUE(known);
  EXPECT_THAT(text_of(envelope, bytes, {.enveloped = *known}),
              AllOf(HasSubstr("DeleteTopicsResponse message v6"), HasSubstr("\"orders\""), Not(HasSubstr("redacted"))));
}

TEST(Envelope, WhatIsInsideStaysHiddenWhereItCanBeASecret) {
  protocol::IncrementalAlterConfigsRequest inner;
  auto& config = inner.resources.emplace_back().configs.emplace_back();
  config.name = "ssl.key.password";
  config.value = "VALUE";
  protocol::EnvelopeRequest request;
  request.request_data = headed(inner, 1, 2);
  Bytes bytes = encode(request, 0);
  Decoded decoded = decode(catalog(), body_of("EnvelopeRequest", 0), bytes);
  EXPECT_TRUE(decoded.secrets);
  EXPECT_THAT(text_of(decoded, bytes),
              AllOf(HasSubstr("RequestData bytes = redacted"), HasSubstr("ssl.key.password"), Not(HasSubstr("VALUE"))));
  // Cut off: the bytes behind the fault could be anything.
  const Bytes whole = request.request_data;
  request.request_data = whole.first(whole.size() - 3);
  bytes = encode(request, 0);
  decoded = decode(catalog(), body_of("EnvelopeRequest", 0), bytes);
  EXPECT_TRUE(decoded.secrets);
  EXPECT_THAT(text_of(decoded, bytes),
              AllOf(HasSubstr("damaged: IncrementalAlterConfigsRequest"), HasSubstr("RequestData bytes = redacted")));
}

TEST(Envelope, OneInsideAnotherStaysClosed) {
  protocol::EnvelopeRequest inner;
  inner.request_data = headed(protocol::DeleteTopicsRequest{}, 6, 2);
  protocol::EnvelopeRequest request;
  request.request_data = headed(inner, 0, 2);
  const std::string text = text_of(body_of("EnvelopeRequest", 0), encode(request, 0));
  EXPECT_THAT(text, AllOf(HasSubstr("EnvelopeRequest message v0 [0x0001,"), Not(HasSubstr("DeleteTopicsRequest"))));
}

// -- secrets --

// SaslAuthenticateRequest v0.
Bytes sasl(std::string_view token) {
  protocol::Writer writer;
  writer.bytes(Bytes::copy_of(token), false);
  return std::move(writer).finish().flatten();
}

// SaslAuthenticateResponse v0.
Bytes answer(std::string_view token) {
  protocol::Writer writer;
  writer.fixed<std::int16_t>(0);
  writer.null_string(false);
  writer.bytes(Bytes::copy_of(token), false);
  return std::move(writer).finish().flatten();
}

TEST(Secrets, APasswordIsHiddenInTextAndHtmlUnlessAskedFor) {
  const Bytes bytes = sasl(std::string_view("\0alice\0hunter2", 14));
  const Envelope envelope = body_of("SaslAuthenticateRequest", 0);
  const Decoded hidden = decode(catalog(), envelope, bytes);
  EXPECT_TRUE(hidden.secrets);
  for (const std::string& shown : {text_of(hidden, bytes), decoded_html(decoded_html_part(hidden, bytes))}) {
    EXPECT_THAT(shown, AllOf(HasSubstr("PLAIN"), HasSubstr("alice"), Not(HasSubstr("hunter2")),
                             Not(HasSubstr(base::hex_encode(span_of("hunter2"))))));
  }
  EXPECT_THAT(decoded_html_part(hidden, bytes), Not(HasSubstr(">68</td>")));  // h
  const Decoded open = decode(catalog(), envelope, bytes, {.show_secrets = true});
  EXPECT_TRUE(open.secrets);
  EXPECT_THAT(text_of(open, bytes), HasSubstr("hunter2"));
  EXPECT_THAT(decoded_html_part(open, bytes), HasSubstr(">68</td>"));
}

TEST(Secrets, AProofOfScramIsHidden) {
  const Bytes bytes = sasl("c=biws,r=abcdef,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  const std::string text = text_of(body_of("SaslAuthenticateRequest", 0), bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("SCRAM"), HasSubstr("nonce string = \"abcdef\""),
                          HasSubstr("proof string = redacted"), Not(HasSubstr("dHzb"))));
}

TEST(Secrets, ATokenOfOauthIsHidden) {
  const Bytes bytes = sasl(
      "n,,\x01"
      "auth=Bearer eyJhbGciOi\x01\x01");
  const std::string text = text_of(body_of("SaslAuthenticateRequest", 0), bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("OAUTHBEARER"), HasSubstr("redacted"), Not(HasSubstr("eyJ"))));
}

// The client's first token: AP-REQ, of which the ticket stays closed.
TEST(Secrets, ATicketOfKerberosIsNamedAndHidden) {
  const std::string token(hex("6016"
                              "06092a864886f712010202"
                              "0100"
                              "6e075449434b455421")
                              .view());
  const Bytes bytes = sasl(token);
  const std::string text = text_of(body_of("SaslAuthenticateRequest", 0), bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("GSSAPI SASL [0x0004, 24B]"),
                          HasSubstr("mechanism OID = 1.2.840.113554.1.2.2 (Kerberos 5)"),
                          HasSubstr("token_id uint16 = 0x0100 (AP-REQ)"),
                          HasSubstr("AP-REQ bytes = redacted (9 bytes)"), Not(HasSubstr("5449434b"))));
  EXPECT_THAT(text_of(body_of("SaslAuthenticateRequest", 0), bytes, {.show_secrets = true}), HasSubstr("5449434b"));
}

TEST(Secrets, AnErrorOfKerberosSaysItsNumber) {
  const std::string token(hex("6018"
                              "06092a864886f712010202"
                              "0300"
                              "7e093007a003020105a603")
                              .view());
  // The error code, [6] INTEGER 37, is cut off at first.
  EXPECT_THAT(text_of(body_of("SaslAuthenticateResponse", 0), answer(token)), HasSubstr("KRB-ERROR bytes = 7e"));
  const std::string whole(hex("601b"
                              "06092a864886f712010202"
                              "0300"
                              "7e0c300aa003020105a603020125")
                              .view());
  EXPECT_THAT(text_of(body_of("SaslAuthenticateResponse", 0), answer(whole)),
              HasSubstr("KRB-ERROR bytes = error 37 (the clocks differ too much)"));
}

TEST(Secrets, TheLayersInWrappedDataAreRead) {
  const std::string offer(hex("0504 01 ff 000c 0000 0000000000000001"
                              "07 00ffff"
                              "c0ffeec0ffeec0ffeec0ffee")
                              .view());
  const std::string text = text_of(body_of("SaslAuthenticateResponse", 0), answer(offer));
  EXPECT_THAT(text, AllOf(HasSubstr("security_layers uint8 = 7 (no layer, integrity, confidentiality)"),
                          HasSubstr("max_size uint24 = 65535"), HasSubstr("checksum bytes = redacted (12 bytes)")));
  // The client's choice, turned so that the checksum comes first.
  const std::string choice(hex("0504 00 ff 0004 0004 0000000000000001"
                               "c0ffeec0"
                               "01 000000 616c696365")
                               .view());
  EXPECT_THAT(text_of(body_of("SaslAuthenticateRequest", 0), sasl(choice)),
              AllOf(HasSubstr("security_layers uint8 = 1 (no layer)"), HasSubstr("authzid string = \"alice\"")));
  const std::string sealed(hex("0504 02 ff 0000 001c 0000000000000001 c0ffeec0ffeec0ff").view());
  EXPECT_THAT(text_of(body_of("SaslAuthenticateRequest", 0), sasl(sealed)),
              AllOf(HasSubstr("flags uint8 = 2 (sealed)"), HasSubstr("sealed bytes = redacted (8 bytes)")));
}

TEST(Secrets, TokensThatAreNearlyOfKerberosStayHidden) {
  for (const std::string_view digits :
       {"60", "6000", "6001", "60 80 06", "60 84 ffffffff 06", "600206", "6003060180", "60030601ff", "6002 0600",
        "0504", "0504 00 ff 0000 0000 00000000000000", "0504 08 ff 0000 0000 0000000000000000",
        "0504 00 ff ffff 0000 0000000000000000", "0504 00 ff 0000 0001 0000000000000000 aabb",
        "0504 00 ff 0000 0000 0000000000000000", "600d 0609 2a864886f712010202 0100"}) {
    const Decoded decoded = decode(catalog(), body_of("SaslAuthenticateRequest", 0), sasl(hex(digits).view()));
    EXPECT_TRUE(covers(decoded.tree)) << digits;
    EXPECT_TRUE(decoded.secrets) << digits;
    EXPECT_THAT(tree_text(decoded.tree), HasSubstr("AuthBytes bytes = redacted")) << digits;
  }
}

TEST(Secrets, WhatIsLeftAtAFaultIsHiddenWhereItCouldBeASecret) {
  std::string cut(sasl(std::string_view("\0alice\0hunter2", 14)).view());
  cut[3] = '\x7f';
  const Bytes bytes = Bytes::copy_of(cut);
  const Decoded decoded = decode(catalog(), body_of("SaslAuthenticateRequest", 0), bytes);
  ASSERT_TRUE(decoded.fault);
  const std::string text = text_of(decoded, bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("found      ** **"), Not(HasSubstr("68 75 6e"))));
}

TEST(Secrets, RecordsOfTheMetadataLogHideThemToo) {
  // UserScramCredentialRecord, type 11, version 0: name "u", mechanism 1, salt "s", stored key "KEY1", server key
  // "KEY2".
  const Bytes batch = batch_of("", std::string_view("\x01\x0b\0\x02u\x01\x02s\x05KEY1\x05KEY2\x01\0\0\0\0", 23));
  for (const bool packed : {false, true}) {
    const Bytes bytes = packed
                            ? batch_of("", std::string_view("\x01\x0b\0\x02u\x01\x02s\x05KEY1\x05KEY2\x01\0\0\0\0", 23),
                                       {.compression = protocol::CompressionType::lz4})
                            : batch;
    DecodeOptions options;
    options.walk.topic = "__cluster_metadata";
    const Decoded decoded = decode_records(catalog(), bytes, options);
    EXPECT_TRUE(decoded.secrets);
    EXPECT_THAT(text_of(decoded, bytes), AllOf(HasSubstr("UserScramCredentialRecord"), Not(HasSubstr("KEY1")),
                                               Not(HasSubstr(base::hex_encode(span_of("KEY1"))))));
    EXPECT_THAT(decoded_html_part(decoded, bytes), Not(HasSubstr("KEY2")));
  }
}

TEST(Secrets, SettingsAreHiddenByTheirKeys) {
  EXPECT_TRUE(is_secret_setting("ssl.keystore.password"));
  EXPECT_TRUE(is_secret_setting("listener.name.sasl.scram-sha-256.sasl.jaas.config"));
  EXPECT_FALSE(is_secret_setting("retention.ms"));
  // AlterConfigsRequest v0: one broker, two settings.
  const auto text = [](std::string_view name) {
    protocol::Writer writer;
    writer.fixed<std::int32_t>(1);
    writer.fixed<std::int8_t>(4);
    writer.string("1", false);
    writer.fixed<std::int32_t>(1);
    writer.string(name, false);
    writer.string("VALUE", false);
    writer.boolean(false);
    const Bytes bytes = std::move(writer).finish().flatten();
    return text_of(body_of("AlterConfigsRequest", 0), bytes);
  };
  EXPECT_THAT(text("ssl.key.password"), Not(HasSubstr("VALUE")));
  EXPECT_THAT(text("compression.type"), HasSubstr("VALUE"));
}

bool has_field(const std::vector<schema::Field>& fields, std::string_view name) {
  return std::ranges::any_of(fields, [&](const schema::Field& field) { return field.name == name; });
}

// A field of such a name that is added to a schema must not be forgotten here.
TEST(Secrets, TheTableNamesEveryFieldThatSoundsLikeOne) {
  const auto listed = [](std::string_view message, std::string_view field) {
    return std::ranges::any_of(
        secret_fields(), [&](const SecretField& secret) { return secret.message == message && secret.field == field; });
  };
  std::size_t found = 0;
  for (const SecretField& secret : secret_fields()) {
    const MessageEntry* entry = catalog().find(secret.message);
    ASSERT_NE(entry, nullptr) << secret.message;
    bool there = has_field(entry->message.root.fields, secret.field);
    for (const schema::Struct& structure : entry->message.structs)
      there = there || (has_field(structure.fields, secret.field) &&
                        (secret.named_by.empty() || has_field(structure.fields, secret.named_by)));
    EXPECT_TRUE(there) << secret.message << "." << secret.field;
  }
  for (const SchemaFile& file : schema_files()) {
    const auto message = schema::parse_message(file.text);
    ASSERT_TRUE(message);
    std::vector<const schema::Struct*> structures = {&message->root};
    for (const schema::Struct& structure : message->structs) structures.push_back(&structure);
    for (const schema::Struct* structure : structures) {
      for (const schema::Field& field : structure->fields) {
        const bool sounds = field.type.kind == schema::Kind::bytes &&
                            (field.name == "AuthBytes" || field.name == "Hmac" || field.name.ends_with("Key") ||
                             field.name.starts_with("Salt") || field.name.ends_with("Password"));
        if (!sounds) continue;
        ++found;
        EXPECT_TRUE(listed(message->name, field.name)) << message->name << "." << field.name;
      }
    }
  }
  EXPECT_GE(found, 9U);
}

}  // namespace
}  // namespace thalweg::inspect
