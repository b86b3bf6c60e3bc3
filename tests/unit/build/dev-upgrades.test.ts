/** WebSockets of visitors who leave before the development server has an application to join them to. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createGateway, type GatewayParts } from '../../../scripts/dev/serve/gateway.ts'
import { LOCAL_ONLY } from '../../../scripts/dev/process/local-hosts.ts'

const HANDSHAKE = 'GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

test('one that is reset during the first build neither ends the development server nor reaches the application', async () => {
  const asked: unknown[] = []
  const app = createServer((request, response) => {
    asked.push(request.url)
    response.end('no socket here')
  })
  await once(app.listen(0, '127.0.0.1'), 'listening')
  const built = Promise.withResolvers<undefined>()
  const { server } = createGateway({
    hosts: LOCAL_ONLY,
    built: built.promise,
    port: async () => (app.address() as AddressInfo).port,
    modules: { urls: { publicPath: (path: string) => path } },
  } as unknown as GatewayParts)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    for (const one of [app, server]) one.closeAllConnections()
    for (const one of [app, server]) one.close()
  })
  const visit = async (): Promise<{ client: Socket; held: Socket }> => {
    const upgraded = once(server, 'upgrade')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.on('error', () => undefined)
    client.write(HANDSHAKE)
    const [, held] = (await upgraded) as [unknown, Socket]
    return { client, held }
  }

  const { client, held } = await visit()
  client.resetAndDestroy()
  await vi.waitUntil(() => held.destroyed)
  const { client: patient } = await visit()
  built.resolve(undefined)
  const [answer] = (await once(patient, 'data')) as [Buffer]
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
  expect(asked).toEqual(['/socket'])
})
