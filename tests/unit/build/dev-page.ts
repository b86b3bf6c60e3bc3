import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { DevMessage } from '../../../src/client/dev/dev-messages.ts'
import type { DevServer } from '../../../scripts/dev/dev-server.ts'

/** What an open page is told. */
export interface DevPage extends AsyncDisposable {
  readonly hello: Extract<DevMessage, { type: 'hello' }>
  /** The next message of one of these types; others are passed over. */
  next<Type extends DevMessage['type']>(...types: readonly Type[]): Promise<Extract<DevMessage, { type: Type }>>
}

/** Listens to the messages of a development server, as its pages do. */
export async function openDevPage({ url }: Pick<DevServer, 'url'>): Promise<DevPage> {
  const leave = new AbortController()
  const { body } = await fetch(`${url}/_m/dev`, { signal: leave.signal })
  const stream = Readable.fromWeb(body as ReadableStream)
  stream.on('error', () => undefined)
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]()
  const page: Omit<DevPage, 'hello'> = {
    async next(...types) {
      for (;;) {
        const { value, done } = await lines.next()
        if (done === true) throw new Error('The event stream has ended.')
        if (!value.startsWith('data: ')) continue
        const message: DevMessage = JSON.parse(value.slice('data: '.length))
        if (types.some((type) => type === message.type)) return message as never
      }
    },
    async [Symbol.asyncDispose]() {
      leave.abort()
    },
  }
  return { ...page, hello: await page.next('hello') }
}
