import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import application from '../../src/app/app.ts'
import { createApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { portOf } from '../support/listening.ts'

/** Sends a head and some of the body that it promises, and reads until the server has closed the connection. */
async function converse(path: string, body: Buffer, promised: number): Promise<string> {
  const app = createApp({ app: application, config: readConfig({ LOG_LEVEL: 'silent' }) })
  onTestFinished(() => app.dispose())
  const socket = connect(await portOf(app), '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (part: string) => (answer += part))
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${promised}\r\n\r\n`,
  )
  socket.write(body)
  await once(socket, 'end')
  socket.destroy()
  return answer
}

test.each([
  ['a page that is not there', '/nowhere', 404],
  ['a page that takes no form', '/lab', 405],
  ['a file', '/_m/assets/none.js', 405],
])('a body that is sent slowly to %s holds no connection once it is answered', async (_, path, status) => {
  const answer = await converse(path, Buffer.from('slow'), 1_000_000)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
})
