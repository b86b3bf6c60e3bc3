import { Agent, get } from 'node:http'
import type { Measurement } from './measurement.ts'
import { startServer, type Contestant } from './server-process.ts'
import { median } from './statistics.ts'

const LOADER_MS = 300
const MOST_RATIO = 1.5 // its shell has the site's header, and hello has nothing
const WARM_UPS = 200

/** The first byte of a page whose loader waits, beside that of hello, by turns; each one is read to its end. */
export async function measureEarlyShells(
  ours: Contestant,
  { pairs }: { readonly pairs: number },
): Promise<Measurement> {
  await using server = await startServer(ours, '/')
  const agent = new Agent({ keepAlive: true })
  const firstByte = (path: string, isWhole: (text: string) => boolean): Promise<number> =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now()
      get(server.origin + path, { agent }, (answer) => {
        let first: number | undefined
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          first ??= performance.now() - startedAt
          text += part
        })
        answer.once('end', () => {
          if (first !== undefined && answer.statusCode === 200 && isWhole(text)) resolve(first)
          else reject(new Error(`${path} is not the page that was to be measured.`))
        })
      }).once('error', reject)
    })
  const hello = () => firstByte('/lab/bench/hello', (text) => text.includes('<h1>Hello</h1>'))
  const early = (ms: number) => firstByte(`/lab/early?delay=${ms}`, (text) => text.includes('data-testid="late"'))
  for (let visit = 0; visit < WARM_UPS; visit += 1) await Promise.all([hello(), early(1)])

  const times: { hello: number; early: number }[] = []
  for (let pair = 0; pair < pairs; pair += 1) times.push({ hello: await hello(), early: await early(LOADER_MS) })
  agent.destroy()
  const [beside, first] = [median(times.map((time) => time.hello)), median(times.map((time) => time.early))]
  return {
    name: 'early shell, first byte',
    value: first / beside,
    unit: '×',
    gate: { bound: '≤', limit: MOST_RATIO },
    detail: `of hello's: ${first.toFixed(2)} ms with a loader of ${LOADER_MS} ms, hello ${beside.toFixed(2)} ms; ${pairs} pairs`,
  }
}
