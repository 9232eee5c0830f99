import { Admin, Consumer, Producer, stringDeserializers, stringSerializers, MessagesStreamModes, ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'
import zlib from 'node:zlib'
import { checks, need, Skip, until } from './check.mjs'

const c = checks('platformatic')
const base = { clientId: 'interop', bootstrapBrokers: process.argv[2].split(',') }
const admin = new Admin(base)
const [topic, gtopic, ttopic] = ['t', 'g', 'x'].map(c.topic)
const N = 100
let sent = 0

await c('admin-create', async () => {
  for (const [t, partitions] of [[topic, 3], [gtopic, 4], [ttopic, 1]]) await admin.createTopics({ topics: [t], partitions, replicas: 1 })
})
await c('admin-describe', async () => {
  need(await until(10000, async () => (await admin.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)?.partitions.length === 3), 'metadata')
})
await c('admin-log-dirs', async () => {
  await admin.describeLogDirs({ topics: [{ name: topic, partitions: [0] }] })
})
await c('admin-configs', async () => {
  const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic }
  await admin.incrementalAlterConfigs({ resources: [{ ...resource, configs: [{ name: 'retention.ms', configOperation: IncrementalAlterConfigOperationTypes.SET, value: '3600000' }] }] })
  need(await until(10000, async () => JSON.stringify(await admin.describeConfigs({ resources: [{ ...resource, configurationKeys: ['retention.ms'] }] }), (_k, v) => typeof v === 'bigint' ? `${v}` : v).includes('3600000')), 'retention.ms did not change')
})
const messages = t => Array.from({ length: N }, (_v, i) => ({ topic: t, key: `${i}`, value: `v-${i}`.repeat(20), headers: { h: 'v' }, partition: i % (t === topic ? 3 : 4) }))
for (const compression of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
  await c('produce-' + compression, async () => {
    if (compression === 'zstd' && !zlib.zstdCompressSync) throw new Skip('this Node.js has no zstd')
    const p = new Producer({ ...base, serializers: stringSerializers })
    await p.send({ messages: messages(topic), compression, acks: -1 })
    await p.close()
    sent += N
  })
}
await c('produce-idempotent', async () => {
  const p = new Producer({ ...base, serializers: stringSerializers, idempotent: true })
  await p.send({ messages: messages(gtopic), acks: -1 })
  await p.close()
})
async function read (cons, topic, want, opts = {}, wait = 0) {
  const stream = await cons.consume({ topics: [topic], mode: MessagesStreamModes.COMMITTED, fallbackMode: 'earliest', autocommit: false, maxWaitTime: 300, ...opts })
  const got = []
  stream.on('data', m => got.push(m))
  await until(30000, () => got.length >= want)
  if (wait) await until(wait, () => got.length > want)
  return { stream, got }
}
const consumer = (groupId, opts = {}) => new Consumer({ ...base, groupId, deserializers: stringDeserializers, ...opts })
await c('fetch', async () => { // without a group
  const cons = consumer(c.topic('fetch'))
  const { id: topicId, partitions } = (await admin.metadata({ topics: [topic], forceUpdate: true })).topics.get(topic)
  const ends = (await cons.listOffsets({ topics: [topic] })).get(topic)
  let got = 0
  for (const [partition, { leader: node, leaderEpoch: currentLeaderEpoch }] of partitions.entries()) {
    for (let at = 0n; at < ends[partition];) {
      const { responses } = await cons.fetch({
        node, maxWaitTime: 300, minBytes: 1, maxBytes: 1 << 20, isolationLevel: 0,
        topics: [{ topicId, partitions: [{ partition, currentLeaderEpoch, fetchOffset: at, lastFetchedEpoch: -1, partitionMaxBytes: 4096 }] }]
      })
      for (const { firstOffset, lastOffsetDelta, records } of responses[0].partitions[0].records) {
        need(firstOffset === at, `a batch from ${firstOffset} at ${at}`)
        at = firstOffset + BigInt(lastOffsetDelta) + 1n
        got += records.length
      }
    }
  }
  await cons.close(true)
  need(got === sent && ends.length === 3, `${got} records, ends ${ends}`)
})
await c('consume', async () => {
  const cons = consumer(c.topic('read'))
  const { got } = await read(cons, topic, sent)
  await cons.close(true)
  need(got.length === sent && got[0].headers.get('h') === 'v', `${got.length} records`)
})
for (const groupProtocol of ['classic', 'consumer']) {
  await c('group-commit-' + groupProtocol, async () => {
    const groupId = c.topic('group-' + groupProtocol)
    const a = consumer(groupId, { groupProtocol })
    const first = await read(a, gtopic, N)
    need(first.got.length === N, `${first.got.length} records`)
    await a.commit({ offsets: [0, 1, 2, 3].map(partition => ({ topic: gtopic, partition, offset: 20n, leaderEpoch: 0 })) })
    await a.close(true)
    const b = consumer(groupId, { groupProtocol })
    const rest = await read(b, gtopic, N - 80, {}, 1000)
    need(rest.got.length === N - 80, `resumed with ${rest.got.length} records`)
    need((await admin.listGroups({ types: ['classic', 'consumer'] })).has(groupId), 'not listed')
    if (groupProtocol === 'classic') need((await admin.describeGroups({ groups: [groupId] })).get(groupId).members.size === 1, 'not described')
    await b.close(true)
  })
}
await c('txn-commit-abort', async () => {
  const p = new Producer({ ...base, serializers: stringSerializers, idempotent: true, transactionalId: c.topic('txn') })
  for (const end of ['abort', 'commit']) {
    const t = await p.beginTransaction()
    await t.send({ messages: messages(ttopic).slice(0, 10).map(m => ({ ...m, partition: 0 })) })
    await t[end]()
  }
  await p.close()
  for (const [isolationLevel, want] of [[1, 10], [0, 20]]) {
    const cons = consumer(c.topic('iso' + want))
    const { got } = await read(cons, ttopic, want, { isolationLevel }, 1000)
    await cons.close(true)
    need(got.length === want, `${got.length} records, want ${want}`)
  }
})
await c('admin-partitions', () => admin.createPartitions({ topics: [{ name: gtopic, count: 5, assignments: null }] }))
await c('admin-delete', async () => {
  await admin.deleteTopics({ topics: [topic, gtopic, ttopic] })
  need(await until(10000, async () => !(await admin.listTopics()).includes(topic)), 'still listed')
})
await admin.close()
c.done()
