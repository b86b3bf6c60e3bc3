/** Connections that were reset before anybody has asked for their address. */
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { HandlerArgs } from '../../src/server/index.ts'
import { portOf } from '../support/listening.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

function site() {
  const addresses: string[] = []
  const POST = ({ context }: HandlerArgs) => {
    addresses.push(context.address)
    return new Response(context.address)
  }
  const { app } = tinyApp({
    routes: { '/': { page: page(() => 'home') }, '/order': { handler: moduleOf({ POST }) } } as never,
  })
  return { app, addresses }
}

const ORDER = 'POST /order HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n'

test('run nothing: who is refused by address cannot order without one', async () => {
  const { app, addresses } = site()
  const port = await portOf(app)
  for (let at = 0; at < 50; at += 1) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    await new Promise((sent) => socket.write(ORDER, sent))
    socket.resetAndDestroy()
  }
  await wait(200)
  expect(addresses).not.toContain('')
})

test('but a connection by a file has none, and is answered', async () => {
  const { app, addresses } = site()
  await using folder = await makeTempDir('socket')
  const path = join(folder.path, 'web.sock')
  const server: Server = createServer(app as never).listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const socket = connect(path)
  socket.end(ORDER)
  const [data] = (await once(socket, 'data')) as [Buffer]
  expect([String(data).split('\r\n', 1), addresses]).toEqual([['HTTP/1.1 200 OK'], ['']])
})
