// The session of docs/live.md by npm's driver, with a cluster of the shards shard-a and shard-b: a
// collection is sharded, and written to while a chunk moves; a change stream sees every order once.
const assert = require('node:assert')
const { MongoClient } = require('mongodb')

const orders = 300

async function write(collection) {
  for (let k = 0; k < orders; k++) await collection.insertOne({ _id: k, k })
}

async function main() {
  const client = new MongoClient(process.env.MONGODB_URI)
  const admin = client.db('admin')
  const collection = client.db('driver').collection('orders')
  await admin.command({ enableSharding: 'driver' })
  await admin.command({ shardCollection: 'driver.orders', key: { k: 1 } })
  await admin.command({ split: 'driver.orders', middle: { k: orders / 2 } })

  const stream = collection.watch()
  assert.equal(await stream.tryNext(), null)

  const move = { moveChunk: 'driver.orders', find: { k: orders / 2 }, to: 'shard-b' }
  await Promise.all([write(collection), admin.command(move)])
  assert.equal(await collection.countDocuments(), orders)
  const last = await collection.find().sort({ k: -1 }).limit(2).toArray()
  assert.deepEqual(last.map(order => order._id), [orders - 1, orders - 2])
  const seen = new Set()
  for (let k = 0; k < orders; k++) seen.add((await stream.next()).documentKey._id)
  assert.equal(seen.size, orders)
  assert.equal(await stream.tryNext(), null)
  console.log(`${orders} orders written while a chunk moved, ${seen.size} seen by the stream`)

  for (const chunk of await client.db('config').collection('chunks').find().toArray()) {
    console.log(`chunk from ${JSON.stringify(chunk.min)} on ${chunk.shard}`)
  }
  await stream.close()
  await client.close()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
