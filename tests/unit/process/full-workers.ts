/** A cluster of two workers that take one connection each. Tells its parent the port when both listen. */
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { setServerLimits } from '../../../src/server/process/server-limits.ts'

if (cluster.isPrimary) {
  let listening = 0
  cluster.on('listening', (_worker, { port }) => {
    listening += 1
    if (listening === 2) process.send?.(port)
  })
  process.once('disconnect', () => process.exit())
  cluster.fork()
  cluster.fork()
} else {
  const server = createServer()
  setServerLimits(server)
  server.maxConnections = 1
  server.listen(0, '127.0.0.1')
}
