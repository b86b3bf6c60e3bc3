/** The built application in the folder `APP` on `PORT`, by Next.js's own request handler. */
import { createServer } from 'node:http'
import next from 'next'

const app = next({ dev: false, dir: process.env.APP })
await app.prepare()
const handle = app.getRequestHandler()

const server = createServer((request, response) => void handle(request, response))
server.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit())
