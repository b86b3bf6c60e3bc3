import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** A mail that was handed over. */
interface ReceivedMail {
  readonly to: readonly string[]
  /** Headers and body, quoted-printable undone. */
  readonly text: string
}

/** An SMTP server of a test's own, on the loopback: takes every mail and delivers none. */
export interface SmtpServer extends AsyncDisposable {
  readonly url: string
  /** Resolves with the next mail that nobody has taken yet. */
  nextMail(): Promise<ReceivedMail>
  /** How many have come. */
  readonly count: number
}

/** Speaks as much of RFC 5321 as one client at a time needs. */
export async function startSmtp(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = []
  const takers: ((mail: ReceivedMail) => void)[] = []
  const sockets = new Set<Socket>()
  const state = { count: 0 }

  function receive(mail: ReceivedMail): void {
    state.count += 1
    const taker = takers.shift()
    if (taker === undefined) mails.push(mail)
    else taker(mail)
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setEncoding('utf8').on('error', () => socket.destroy())
    let rest = ''
    let data: string[] | undefined
    let to: string[] = []
    const answer = (line: string): unknown => socket.write(`${line}\r\n`)

    function take(line: string): void {
      if (data !== undefined) {
        if (line !== '.') return void data.push(line.replace(/^\./, ''))
        receive({ to, text: data.join('\n').replaceAll('=\n', '').replaceAll('=3D', '=') })
        data = undefined
        to = []
        return void answer('250 taken')
      }
      const [, recipient] = /^RCPT TO:<([^>]*)>/i.exec(line) ?? []
      if (recipient !== undefined) to.push(recipient)
      if (/^DATA/i.test(line)) data = []
      if (/^QUIT/i.test(line)) return void socket.end('221 bye\r\n')
      answer(data === undefined ? '250 ok' : '354 go on')
    }

    answer('220 test')
    socket.on('data', (part) => {
      const lines = (rest + String(part)).split('\r\n')
      rest = lines.pop() ?? ''
      lines.forEach(take)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return state.count
    },
    nextMail() {
      const mail = mails.shift()
      return mail === undefined ? new Promise((resolve) => takers.push(resolve)) : Promise.resolve(mail)
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
