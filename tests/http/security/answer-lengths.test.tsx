/** A body of another length than its `Content-Length` must not become a part of the next answer of the connection. */
import { once } from 'node:events'
import { truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { sendFile } from '../../../src/server/api/send-file.ts'
import { portOf } from '../../support/listening.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { moduleOf, tinyApp } from '../../support/tiny-app.tsx'

const FORGED = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nforged'
const CODED = gzipSync('from elsewhere '.repeat(40))

async function startUpstream(): Promise<string> {
  const server = createServer((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip', 'Content-Length': CODED.length })
    res.end(CODED)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** All that the connection answers to a request for it and one for `/next`. */
async function answersOf(port: number, path: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  socket.write('GET /next HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  return text(socket)
}

test('ends the connection where the two differ, and passes on what fetch has decoded', async () => {
  const upstream = await startUpstream()
  const bodies: Record<string, () => Response | Promise<Response>> = {
    longer: () => new Response(`12345${FORGED}`, { headers: { 'Content-Length': '5' } }),
    shorter: () => new Response('123', { headers: { 'Content-Length': '500' } }),
    absent: () => new Response(null, { headers: { 'Content-Length': '500' } }),
    equal: () => new Response('12345', { headers: { 'Content-Length': '5' } }),
    fetched: () => fetch(upstream),
    copied: async () => {
      const { body, headers } = await fetch(upstream)
      return new Response(body, { headers })
    },
  }
  const handlers = Object.entries(bodies).map(([name, GET]) => [`/${name}`, { handler: moduleOf({ GET }) }])
  const next = { handler: moduleOf({ GET: () => new Response('the next one') }) }
  const { app, logs } = tinyApp({ routes: { ...Object.fromEntries(handlers), '/next': next } as never })
  const port = await portOf(app)
  const nextComes: string[] = []
  for (const name of Object.keys(bodies)) {
    const answers = await answersOf(port, `/${name}`)
    expect(answers).not.toContain('forged')
    if (answers.includes('the next one')) nextComes.push(name)
  }
  expect(nextComes).toEqual(['absent', 'equal', 'fetched'])
  expect(JSON.stringify(logs)).toContain('does not match the content-length of 5 byte(s)')
  const answer = await fetch(`http://127.0.0.1:${port}/fetched`)
  expect(await answer.text()).toBe('from elsewhere '.repeat(40))
})

test('closes the connection of a file that becomes shorter while it is sent', async () => {
  await using folder = await makeTempDir('cut')
  const path = join(folder.path, 'film.bin')
  await writeFile(path, '')
  await truncate(path, 64 * 1024 * 1024) // more than the buffers of a connection
  const film = { handler: moduleOf({ GET: () => sendFile('film.bin', { root: folder.path }) }) }
  const { app, logs } = tinyApp({ routes: { '/film': film } as never })
  const socket = connect(await portOf(app), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.write('GET /film HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'readable')
  await truncate(path, 1_000)
  socket.resume()
  await once(socket, 'close')
  expect(JSON.stringify(logs)).toContain('a file became shorter while it was sent')
})
