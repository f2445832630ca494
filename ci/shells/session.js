// A session of npm's driver with a cluster of shards shard-a and shard-b: shard, write, move, watch.
//
//   npm i mongodb@7 mongosh@2
//   MONGODB_URI=mongodb://… node session.js && npx mongosh "$MONGODB_URI" --eval 'sh.status()'
const assert = require('node:assert')
const { MongoClient } = require('mongodb')

async function main() {
  const client = new MongoClient(process.env.MONGODB_URI)
  const admin = client.db('admin')
  const orders = client.db('shop').collection('orders')
  await admin.command({ enableSharding: 'shop' })
  await admin.command({ shardCollection: 'shop.orders', key: { k: 1 } })
  const stream = orders.watch()
  const seen = []
  stream.on('change', change => seen.push(change.documentKey._id))
  await new Promise(done => setTimeout(done, 300))
  for (let i = 0; i < 50; i++) await orders.insertOne({ _id: i, k: i })
  await admin.command({ split: 'shop.orders', middle: { k: 25 } })
  await admin.command({ moveChunk: 'shop.orders', find: { k: 30 }, to: 'shard-b' })
  for (let i = 50; i < 60; i++) await orders.insertOne({ _id: i, k: i })
  assert.equal(await orders.countDocuments(), 60)
  const last = await orders.find().sort({ k: -1 }).limit(2).toArray()
  assert.deepEqual(last.map(order => order._id), [59, 58])
  for (let tries = 0; seen.length < 60 && tries < 50; tries++) {
    await new Promise(done => setTimeout(done, 100))
  }
  assert.equal(seen.length, 60)
  await stream.close()
  await client.close()
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
