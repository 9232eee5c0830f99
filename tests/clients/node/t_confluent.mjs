import confluent from '@confluentinc/kafka-javascript'
import { checks, need, sleep, until } from './check.mjs'

const { KafkaConsumer, KafkaJS } = confluent
const { Kafka, CompressionTypes, logLevel } = KafkaJS
const c = checks('confluent-node')
const kafka = new Kafka({ kafkaJS: { brokers: process.argv[2].split(','), logLevel: logLevel.NOTHING } })
const admin = kafka.admin()
const [topic, gtopic, ttopic] = ['t', 'g', 'x'].map(c.topic)
const N = 100

await c('connect', () => admin.connect())
await c('admin-create', async () => {
  await admin.createTopics({ topics: [{ topic, numPartitions: 3 }, { topic: gtopic, numPartitions: 4 }, { topic: ttopic, numPartitions: 1 }] })
  need(await until(10000, async () => (await admin.listTopics()).includes(ttopic)), 'not listed')
})
await c('admin-describe', async () => {
  const m = await admin.fetchTopicMetadata({ topics: [topic] })
  need((m.topics ?? m)[0].partitions.length === 3, m)
})
// new objects each time: the client changes the messages that it is handed
const messages = (n = N) => Array.from({ length: n }, (_v, i) => ({ key: `${i}`, value: `v-${i}`.repeat(20), headers: { h: 'v' } }))
for (const [name, compression] of [['none', CompressionTypes.None], ['gzip', CompressionTypes.GZIP], ['snappy', CompressionTypes.SNAPPY], ['lz4', CompressionTypes.LZ4], ['zstd', CompressionTypes.ZSTD]]) {
  await c('produce-' + name, async () => {
    const p = kafka.producer({ kafkaJS: { compression } })
    await p.connect()
    await p.send({ topic, messages: messages() })
    await p.disconnect()
  })
}
await c('produce-idempotent', async () => {
  const p = kafka.producer({ kafkaJS: { idempotent: true } })
  await p.connect()
  await p.send({ topic: gtopic, messages: messages().map((m, i) => ({ ...m, partition: i % 4 })) })
  await p.disconnect()
})
async function read (topic, groupId, want, { kafkaJS = {}, ...opts } = {}, extra = 0) {
  const cons = kafka.consumer({ kafkaJS: { groupId, fromBeginning: true, autoCommit: false, ...kafkaJS }, ...opts })
  await cons.connect()
  await cons.subscribe({ topics: [topic] })
  const got = []
  await cons.run({
    eachMessage: async ({ partition, message }) => {
      if (got.length < want + extra) got.push({ topic, partition, offset: (BigInt(message.offset) + 1n).toString(), h: message.headers })
    }
  })
  await until(30000, () => got.length >= want)
  if (extra) await sleep(1000)
  return { got, cons }
}
await c('consume-assigned', async () => { // with the other interface of this client, which can do without the group
  const cons = new KafkaConsumer({ 'bootstrap.servers': process.argv[2], 'group.id': c.topic('assign'), 'enable.auto.commit': false }, {})
  const got = []
  await new Promise((resolve, reject) => cons.connect({}, e => e ? reject(e) : resolve()))
  cons.on('data', m => got.push(m))
  cons.assign([0, 1, 2].map(partition => ({ topic, partition, offset: 0 })))
  cons.consume()
  await until(20000, () => got.length >= 5 * N)
  await new Promise(resolve => cons.disconnect(resolve))
  need(got.length === 5 * N && got[0].headers[0].h.toString() === 'v', `${got.length} records`)
})
await c('consume', async () => {
  const { got, cons } = await read(topic, c.topic('read'), 5 * N)
  await cons.disconnect()
  need(got.length === 5 * N && got[0].h.h.toString() === 'v', `${got.length} records`)
})
for (const proto of ['classic', 'consumer']) {
  await c('group-commit-' + proto, async () => {
    const groupId = c.topic('group-' + proto)
    const opts = { 'group.protocol': proto }
    const a = await read(gtopic, groupId, N / 2, opts)
    const pos = new Map()
    for (const g of a.got) pos.set(g.partition, g)
    await a.cons.commitOffsets([...pos.values()].map(({ topic, partition, offset }) => ({ topic, partition, offset })))
    await a.cons.disconnect()
    const b = await read(gtopic, groupId, N / 2, opts, 1)
    need(b.got.length === N / 2, `resumed with ${b.got.length} records`)
    const d = await admin.describeGroups([groupId])
    need(d.groups[0].members.length === 1, 'not described')
    await b.cons.disconnect()
    const offs = await admin.fetchOffsets({ groupId, topics: [{ topic: gtopic, partitions: [0, 1, 2, 3] }] })
    need(offs[0].partitions.filter(p => Number(p.offset) > 0).length === pos.size, offs)
    await admin.deleteGroups([groupId])
  })
}
await c('txn-commit-abort', async () => {
  const p = kafka.producer({ kafkaJS: { transactionalId: c.topic('txn') } })
  await p.connect()
  for (const end of ['abort', 'commit']) {
    const t = await p.transaction()
    await t.send({ topic: ttopic, messages: messages(10) })
    await t[end]()
  }
  await p.disconnect()
  for (const [readUncommitted, want] of [[false, 10], [true, 20]]) {
    const { got, cons } = await read(ttopic, c.topic('iso' + want), want, { kafkaJS: { readUncommitted } }, 1)
    await cons.disconnect()
    need(got.length === want, `${got.length} records, want ${want}`)
  }
})
await c('admin-delete-records', () => admin.deleteTopicRecords({ topic: gtopic, partitions: [{ partition: 0, offset: '5' }] }))
await c('admin-delete', async () => {
  await admin.deleteTopics({ topics: [topic, gtopic, ttopic] })
  need(await until(10000, async () => !(await admin.listTopics()).includes(topic)), 'still listed')
})
await admin.disconnect()
c.done()
