// The session of docs/live.md in mongosh.
sh.shardCollection('shop.orders', { k: 1 })
db = db.getSiblingDB('shop')
const stream = db.orders.watch()
for (let k = 0; k < 100; k++) db.orders.insertOne({ k })
sh.splitAt('shop.orders', { k: 50 })
print(sh.moveChunk('shop.orders', { k: 60 }, 'shard-b').ok)
for (let k = 100; k < 120; k++) db.orders.insertOne({ k })

let seen = 0
for (let i = 0; i < 1000 && seen < 120; i++) if (stream.tryNext()) seen++
stream.close()
print(`${db.orders.countDocuments()} orders, ${seen} changes seen`)
if (db.orders.countDocuments() !== 120 || seen !== 120) throw new Error('orders are missing')
print(sh.status())
