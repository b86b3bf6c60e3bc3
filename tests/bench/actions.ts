import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buildApplication } from '../../scripts/build/build-application.ts'
import { submitForm } from '../../src/testing/submit-form.ts'
import { bundleBareServer, PROJECT } from './bundle.ts'
import { loadFor, type PostedForm } from './load.ts'
import type { Measurement } from './measurement.ts'
import { cpuTicks, residentBytes, startServer, type Contestant, type RunningServer } from './server-process.ts'
import { median } from './statistics.ts'

const LEAST_RATIO = 0.8
const MOST_UPLOAD_GROWTH = 40_000_000
const WARM_UP_BYTES = 1_048_576
const CHUNK = Buffer.alloc(65_536, 'millrace ')

/** How long a run of forms takes. */
interface ActionOptions {
  /** Pairs of runs, ours and bare by turns. */
  readonly rounds: number
  /** Of one run. */
  readonly seconds: number
  readonly warmUpSeconds: number
}

/**
 * Builds the application of actions.
 * @param folder where it goes.
 */
async function buildActionApp(folder: string): Promise<Contestant> {
  const out = join(folder, 'dist')
  await buildApplication({ root: PROJECT, app: join(PROJECT, 'tests/bench/action-app'), out }, {})
  return { name: 'ours', entry: join(out, 'server/main.js') }
}

/** A small form against a bare handler, once as any client sends it, and once with the key that a document gives it. */
export async function measureActions(folder: string, options: ActionOptions): Promise<Measurement[]> {
  const bare: Contestant = { name: 'bare', entry: await bundleBareServer(folder, 'bare-actions.ts') }
  await using ourServer = await startServer(await buildActionApp(folder), '/')
  await using bareServer = await startServer(bare, '/')
  const url = await actionUrl(ourServer, 'store')
  const form = 'name=Ada&message=a+message+of+no+great+length'
  const pair = (body: string): readonly [ours: Target, bare: Target] => [
    { server: ourServer, url, form: { folder, body } },
    { server: bareServer, url: bareServer.origin, form: { folder, body } },
  ]
  const plain = await measureForm('action, small form', pair(form), options)
  const keyed = await measureForm(
    'action, small form with a key',
    pair(`${form}&$ACTION_ONCE=benchmark-[<id>]`),
    options,
  )
  return [{ ...plain, gate: { bound: '≥', limit: LEAST_RATIO } }, keyed]
}

/** A server, and what is sent to it. */
interface Target {
  readonly server: RunningServer
  readonly url: string
  readonly form: PostedForm
}

/** One run of one server. */
interface Run {
  /** Forms a second. */
  readonly rate: number
  /** CPU time of a form. */
  readonly ticks: number
}

async function measureForm(
  name: string,
  [ours, bare]: readonly [ours: Target, bare: Target],
  { rounds, seconds, warmUpSeconds }: ActionOptions,
): Promise<Measurement> {
  await checkAnswer(ours)
  await checkAnswer(bare)
  for (const target of [ours, bare]) await run(target, warmUpSeconds)
  const pairs: { ours: Run; bare: Run }[] = []
  for (let round = 0; round < rounds; round += 1) {
    pairs.push({ ours: await run(ours, seconds), bare: await run(bare, seconds) })
  }
  const perSecond = (rates: readonly number[]): string => `${Math.round(median(rates)).toLocaleString('en')}/s`
  const byCpu = median(pairs.map((pair) => pair.bare.ticks / pair.ours.ticks))
  return {
    name,
    value: median(pairs.map((pair) => pair.ours.rate / pair.bare.rate)),
    unit: '×',
    detail:
      `ours ${perSecond(pairs.map((pair) => pair.ours.rate))}, bare ${perSecond(pairs.map((pair) => pair.bare.rate))}, ` +
      `${rounds} pairs; by CPU time ${byCpu.toFixed(2)}`,
  }
}

async function run({ server, url, form }: Target, seconds: number): Promise<Run> {
  const before = await cpuTicks(server.pid)
  const { rate, requests } = await loadFor(url, seconds, { form })
  return { rate, ticks: ((await cpuTicks(server.pid)) - before) / requests }
}

/** @throws {Error} where a good form is not taken, or a bad one is. */
async function checkAnswer({ server, url, form: { body } }: Target): Promise<void> {
  const statusOf = async (text: string): Promise<number> =>
    (await fetch(url, { method: 'POST', body: new URLSearchParams(text), redirect: 'manual' })).status
  const [good, bad] = [await statusOf(body.replace('[<id>]', 'first')), await statusOf('name=&message=a')]
  if (good !== 303 || bad !== 422)
    throw new Error(`${server.contestant.name} answers ${good} and ${bad}, not 303 and 422.`)
}

/** Where the form of this id is sent to. */
async function actionUrl({ origin }: RunningServer, id: string): Promise<string> {
  return origin + (await submitForm(await (await fetch(origin)).text(), `#${id}`)).url
}

/**
 * By how much the resident memory grows while a large file passes through. V8 lets some 60 MB of chunks pile up before it
 * looks for dead ones, in the barest server too; so the gate is on a process that has had an upload before, and what a
 * first one takes is told beside the bare server's.
 */
export async function measureUpload(folder: string, bytes: number): Promise<Measurement[]> {
  const bare: Contestant = { name: 'bare', entry: await bundleBareServer(folder, 'bare-actions.ts') }
  await using ourServer = await startServer(await buildActionApp(folder), '/')
  await using bareServer = await startServer(bare, '/')
  const url = await actionUrl(ourServer, 'read')
  const ours = await growthOf(ourServer, url, bytes / 4)
  const theirs = await growthOf(bareServer, `${bareServer.origin}/upload`, bytes / 4)
  const large = await growthOf(ourServer, url, bytes)
  const mebibytes = (count: number): string => `${Math.round(count / 2 ** 20).toLocaleString('en')} MiB`
  return [
    {
      name: `memory, upload of ${mebibytes(bytes)}`,
      value: large.growth,
      unit: 'B',
      gate: { bound: '<', limit: MOST_UPLOAD_GROWTH },
      detail: `over ${mebibytes(large.idle)} of a process that has had one before`,
    },
    {
      name: `memory, first upload of ${mebibytes(bytes / 4)}`,
      value: ours.growth / theirs.growth,
      unit: '×',
      detail: `ours ${mebibytes(ours.growth)} over idle, bare ${mebibytes(theirs.growth)}`,
    },
  ]
}

async function growthOf(server: RunningServer, url: string, bytes: number) {
  await upload(url, WARM_UP_BYTES)
  const idle = await residentBytes(server.pid)
  let highest = idle
  await upload(url, bytes, async () => {
    highest = Math.max(highest, await residentBytes(server.pid))
  })
  return { idle, growth: highest - idle }
}

const LOOKS = 64 // at the memory, during one upload

/** @throws {Error} where the answer is no 303: the handler has not read the file. */
async function upload(url: string, bytes: number, look: () => Promise<void> = async () => undefined): Promise<void> {
  const sending = request(url, { method: 'POST', headers: { 'Content-Type': 'multipart/form-data; boundary=x' } })
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>
  sending.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n')
  for (let sent = 0; sent < bytes; sent += CHUNK.length) {
    if (!sending.write(CHUNK)) await once(sending, 'drain')
    if (sent % (Math.ceil(bytes / LOOKS / CHUNK.length) * CHUNK.length) === 0) await look()
  }
  sending.end('\r\n--x--\r\n')
  const [answer] = await answered
  answer.resume()
  if (answer.statusCode !== 303) throw new Error(`The upload was answered by ${answer.statusCode}, not 303.`)
}
