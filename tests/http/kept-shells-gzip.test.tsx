import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import { gunzipSync, inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { slotOf, slotted } from '../support/kept-shells.tsx'
import { listeningOn } from '../support/listening.ts'
import { tinyApp } from '../support/tiny-app.tsx'

const as = (name: string) => ({ Cookie: `visitor=${name}` })

test('a shell in gzip is one member, however the slots are cut', async () => {
  const names = { ann: 'ann', bob: 'b'.repeat(5_000), cleo: 'ß€😀'.repeat(100_000) }
  const { route } = slotted(({ context }) => ({ name: names[context.cookie('visitor') as 'ann'] ?? 'nobody' }))
  await using server = await listeningOn(createServer(tinyApp({ routes: { '/': route } }).app))
  for (const [name, said] of Object.entries(names)) {
    for (const coding of ['gzip', 'br', 'gzip;q=0.5, zstd', 'identity']) {
      const answer = await fetchRaw(server.port, { ...as(name), 'Accept-Encoding': coding })
      const isCoded = coding.includes('gzip')
      expect(answer.coding).toBe(isCoded ? 'gzip' : undefined)
      const text = isCoded ? ungzip(answer.body) : answer.body.toString()
      expect([slotOf({ text }), text.endsWith('</body></html>')]).toEqual([said, true])
    }
  }
})

/** Without a client that decodes. */
async function fetchRaw(port: number, headers: Readonly<Record<string, string>>) {
  const [answer] = (await once(get({ port, headers, agent: false }), 'response')) as [IncomingMessage]
  return { coding: answer.headers['content-encoding'], body: Buffer.concat(await answer.toArray()) }
}

interface Inflated {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

/** As `gunzipSync`, which would read on after the first member, and checks its sum. */
function ungzip(body: Buffer): string {
  const { buffer } = gunzipSync(body, { info: true }) as unknown as Inflated
  // Head of 10 bytes, blocks to the last one, trailer of 8.
  const blocks = inflateRawSync(body.subarray(10), { info: true }) as unknown as Inflated
  expect(blocks.engine.bytesWritten).toBe(body.length - 18)
  return buffer.toString()
}
