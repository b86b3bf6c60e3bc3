import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { href, withBasePath } from 'millrace'
import type { AppDefinition } from 'millrace/server'
import type { User } from './accounts/users.server.ts'
import { databaseIn, type Where } from './database.server.ts'
import { env } from './env.server.ts'
import { WORDS, type Words } from './words.ts'

export type Mail = Readonly<Record<'recipient' | 'subject' | 'text', string> & { id: number }>
type Recipient = Pick<User, 'email' | 'locale'>
type About = { readonly path: string } | { readonly ticket: number; readonly text: string }

const NEXT = 'UPDATE mails SET tries=tries+1 WHERE id IN (SELECT id FROM mails ORDER BY tries, id LIMIT 20) RETURNING *'

/** Puts a mail into the table, in the transaction of what it tells of. A job sends it. */
export function writeMail(where: Where, { email, locale }: Recipient, kind: keyof Words['mails'], about: About): void {
  const path = 'path' in about ? about.path : href('/[locale]/tickets/[id]', { locale, id: String(about.ticket) })
  const link = new URL(withBasePath(path), env.ORIGIN)
  const text = 'text' in about ? `${about.text}\n\n${link}` : String(link)
  const insert = databaseIn(where).statement('INSERT INTO mails (recipient, subject, text) VALUES (?, ?, ?)')
  insert.run(email, WORDS[locale].mails[kind], text)
}

/** Gives mails to `send`. One that fails is tried again later, and delays no other. @throws the first error. */
export async function sendMails(where: Pick<Where, 'dataDir'>, send: (mail: Mail) => Promise<unknown>): Promise<void> {
  const { statement } = databaseIn(where)
  const sends = (statement(NEXT).all() as unknown as Mail[]).map(async (mail) => {
    await send(mail)
    statement('DELETE FROM mails WHERE id = ?').run(mail.id)
  })
  await Promise.all(sends)
}

/** Of `app.ts`: sends mails as long as the server runs. */
export const startJobs: NonNullable<AppDefinition['start']> = ({ dataDir, log, signal }) => {
  const folder = join(dataDir, 'mails')
  const transport = createTransport(env.SMTP_URL ?? { jsonTransport: true }, { from: 'desk@desk.example' })

  async function send({ id, recipient, subject, text }: Mail): Promise<void> {
    const sent = await transport.sendMail({ to: { name: '', address: recipient }, subject, text })
    if (env.SMTP_URL !== undefined) return
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `${id}.json`), String(sent.message))
  }

  const timer = setInterval(() => {
    if (signal.aborted) return
    sendMails({ dataDir }, send).catch((error: unknown) => log.error({ err: String(error) }, 'a mail was not sent'))
  }, env.JOB_SECONDS * 1000)
  return () => clearInterval(timer)
}
