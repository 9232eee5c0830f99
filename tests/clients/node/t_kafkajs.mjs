import kafkajs from 'kafkajs'
import { checks, need, sleep, until } from './check.mjs'

const { Kafka, CompressionTypes, ConfigResourceTypes, AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes, logLevel } = kafkajs
const c = checks('kafkajs')
const kafka = new Kafka({ brokers: process.argv[2].split(','), logLevel: logLevel.NOTHING, retry: { retries: 8 } })
const admin = kafka.admin()
const [topic, gtopic, ttopic] = ['t', 'g', 'x'].map(c.topic)
const N = 100

await c('connect', () => admin.connect())
await c('admin-create', async () => {
  need(await admin.createTopics({
    waitForLeaders: true,
    topics: [{ topic, numPartitions: 3 }, { topic: gtopic, numPartitions: 4 }, { topic: ttopic, numPartitions: 1 }]
  }), 'not created')
})
await c('admin-describe', async () => {
  const m = await admin.fetchTopicMetadata({ topics: [topic] })
  need(m.topics[0].partitions.length === 3, m)
  need((await admin.describeCluster()).clusterId, 'no cluster id')
})
const resource = { type: ConfigResourceTypes.TOPIC, name: topic }
await c('admin-describe-configs', async () => {
  const d = await admin.describeConfigs({ resources: [{ ...resource, configNames: ['retention.ms'] }] })
  need(d.resources[0].configEntries[0].configValue === '604800000', d)
})
await c('admin-alter-configs', async () => {
  await admin.alterConfigs({ resources: [{ ...resource, configEntries: [{ name: 'retention.ms', value: '3600000' }] }] })
  need(await until(10000, async () => {
    const d = await admin.describeConfigs({ resources: [{ ...resource, configNames: ['retention.ms'] }] })
    return d.resources[0].configEntries[0].configValue === '3600000'
  }), 'retention.ms did not change')
})
const messages = Array.from({ length: N }, (_v, i) => ({ key: `${i}`, value: `v-${i}`.repeat(20), headers: { h: 'v' } }))
for (const [name, compression] of [['none', CompressionTypes.None], ['gzip', CompressionTypes.GZIP]]) {
  await c('produce-' + name, async () => {
    const p = kafka.producer()
    await p.connect()
    await p.send({ topic, compression, messages })
    await p.disconnect()
  })
}
await c('produce-idempotent', async () => {
  const p = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await p.connect()
  await p.send({ topic: gtopic, messages: messages.map((m, i) => ({ ...m, partition: i % 4 })) })
  await p.disconnect()
})
await c('offsets', async () => {
  const offsets = await admin.fetchTopicOffsets(topic)
  need(offsets.length === 3 && offsets.reduce((sum, o) => sum + Number(o.high), 0) === 2 * N && offsets.every(o => o.low === '0'), offsets)
})
async function read (topic, groupId, want, opts = {}, extra = 0) {
  const cons = kafka.consumer({ groupId, sessionTimeout: 10000, heartbeatInterval: 1000, maxWaitTimeInMs: 300, ...opts })
  await cons.connect()
  await cons.subscribe({ topics: [topic], fromBeginning: true })
  const got = []
  await cons.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      if (got.length < want + extra) got.push({ topic, partition, offset: (BigInt(message.offset) + 1n).toString(), h: message.headers })
    }
  })
  await until(30000, () => got.length >= want)
  if (extra) await sleep(1000)
  return { got, cons }
}
await c('consume', async () => {
  const { got, cons } = await read(topic, c.topic('read'), 2 * N)
  await cons.disconnect()
  need(got.length === 2 * N && got[0].h.h.toString() === 'v', `${got.length} records`)
})
await c('group-commit-classic', async () => {
  const groupId = c.topic('group')
  const a = await read(gtopic, groupId, N / 2)
  const pos = new Map()
  for (const g of a.got) pos.set(g.partition, g)
  await a.cons.commitOffsets([...pos.values()].map(({ topic, partition, offset }) => ({ topic, partition, offset })))
  await a.cons.disconnect()
  const b = await read(gtopic, groupId, N / 2, {}, 1)
  need(b.got.length === N / 2, `resumed with ${b.got.length} records`)
  const d = await admin.describeGroups([groupId])
  need(d.groups[0].members.length === 1, d)
  await b.cons.disconnect()
  const offs = await admin.fetchOffsets({ groupId, topics: [gtopic] })
  need(offs[0].partitions.filter(p => Number(p.offset) > 0).length === pos.size, offs)
  need((await admin.listGroups()).groups.some(g => g.groupId === groupId), 'not listed')
  await admin.deleteGroups([groupId])
})
await c('txn-commit-abort', async () => {
  const p = kafka.producer({ transactionalId: c.topic('txn'), maxInFlightRequests: 1, idempotent: true })
  await p.connect()
  for (const end of ['abort', 'commit']) {
    const t = await p.transaction()
    await t.send({ topic: ttopic, messages: messages.slice(0, 10) })
    if (end === 'commit') {
      await t.sendOffsets({ consumerGroupId: c.topic('txn-group'), topics: [{ topic: ttopic, partitions: [{ partition: 0, offset: '3' }] }] })
    }
    await t[end]()
  }
  await p.disconnect()
  for (const [readUncommitted, want] of [[false, 10], [true, 20]]) {
    const { got, cons } = await read(ttopic, c.topic('iso' + want), want, { readUncommitted }, 1)
    await cons.disconnect()
    need(got.length === want, `${got.length} records, want ${want}`)
  }
})
await c('admin-acls', async () => {
  // Not on a topic of the other features: an ACL for somebody else shuts this client out of it.
  const acl = { resourceType: AclResourceTypes.TOPIC, resourceName: c.topic('acl'), resourcePatternType: ResourcePatternTypes.LITERAL, principal: 'User:interop', host: '*', operation: AclOperationTypes.READ, permissionType: AclPermissionTypes.ALLOW }
  await admin.createAcls({ acl: [acl] })
  need(await until(5000, async () => (await admin.describeAcls(acl)).resources.length === 1), 'not described')
  await admin.deleteAcls({ filters: [acl] })
})
await c('admin-delete-records', () => admin.deleteTopicRecords({ topic: gtopic, partitions: [{ partition: 0, offset: '5' }] }))
await c('admin-partitions', () => admin.createPartitions({ topicPartitions: [{ topic: gtopic, count: 5 }] }))
await c('admin-delete', async () => {
  await admin.deleteTopics({ topics: [topic, gtopic, ttopic] })
  need(await until(10000, async () => !(await admin.listTopics()).includes(topic)), 'still listed')
})
c.done()
