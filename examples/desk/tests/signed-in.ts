import { createTestApp, type TestApp, type Visitor } from 'millrace/testing'
import application from '../src/app/app.ts'
import { databaseIn } from '../src/app/database.server.ts'

export const AGENT = 'agent@desk.example'

export function startDesk(options: Parameters<typeof createTestApp>[1] = {}): TestApp {
  return createTestApp(application, { environment: { JOB_SECONDS: '3600' }, ...options })
}

/** The path of the link in the last mail to somebody. */
export function mailedPath(app: TestApp, email: string): string {
  const { statement } = databaseIn(app)
  const mail = statement('SELECT text FROM mails WHERE recipient = ? ORDER BY id DESC').get(email)
  const { pathname, search } = new URL(/https?:\S+/.exec(String(mail?.['text']))?.[0] ?? '')
  return pathname + search
}

/** Signs in by the mailed link. */
export async function signedIn(app: TestApp, email: string, name: string): Promise<Visitor> {
  const visitor = app.visitor()
  await (await visitor.get('/en')).submit('#sign-in', { email })
  await (await visitor.get(mailedPath(app, email))).submit('#enter', { name })
  return visitor
}

/** Walks through the wizard. @returns the page of the ticket. */
export async function sendTicket(visitor: Visitor, subject: string, ...files: File[]) {
  const details = await (await visitor.get('/en/new/topic')).submit('#topic', { topic: 'fault', subject })
  const review = await details.submit('#details', { text: 'The wheel stands still.' })
  return review.submit('#review', { files })
}
