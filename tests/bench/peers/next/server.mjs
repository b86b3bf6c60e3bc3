/** The built application on `PORT`, by Next.js's own request handler. */
import { createServer } from 'node:http'
import next from 'next'

const app = next({ dev: false, dir: import.meta.dirname })
await app.prepare()
const handle = app.getRequestHandler()

const server = createServer((request, response) => void handle(request, response))
server.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit())
