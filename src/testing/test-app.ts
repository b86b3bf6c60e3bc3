import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AppDefinition } from '../server/api/define-app.ts'
import type { FakeClock } from './fake-clock.ts'
import type { LogEntry } from './test-log.ts'
import type { Visitor, VisitorOptions } from './visitor.ts'

/** What `app.ts` exports, or the parts of it that a test needs; without a document, a plain one. */
export type TestDefinition = Omit<AppDefinition, 'document'> & Partial<Pick<AppDefinition, 'document'>>

/** Options of `createTestApp`. */
export interface TestAppOptions {
  /** Configuration, as in the environment of a server: `{ ORIGIN: 'https://example.com' }`. Nothing else is read. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** The clock of sessions, caches, limits and idempotency keys; default: the system's. */
  readonly clock?: Pick<FakeClock, 'now'> | undefined
}

/** An application that listens to no port until its `origin` is asked for: hand it to supertest. */
export interface TestApp extends AsyncDisposable {
  (req: IncomingMessage, res: ServerResponse): void
  /** Its log so far, at most the last 10,000 lines. Nothing is printed. */
  readonly logs: readonly LogEntry[]
  /** Absolute path of its folder for embedded stores: a temporary one, unless `DATA_DIR` names it. */
  readonly dataDir: string
  /**
   * Runs the application's `start`, once. The first request does it too, and waits for it.
   * @throws what `start` throws.
   */
  start(): Promise<void>
  /**
   * Listens to a free port of 127.0.0.1, once, after `start`.
   * @returns `http://127.0.0.1:<port>`.
   */
  origin(): Promise<string>
  /** A visitor with an empty jar of cookies. */
  visitor(options?: VisitorOptions): Visitor
  /**
   * Ends it as a server ends: connections first, then work of `context.after`, the application's `stop`, and the stores.
   * Then its temporary folder is removed. `await using` calls it.
   * @throws {Error} if the application's `stop` fails or takes longer than five seconds.
   */
  stop(): Promise<void>
}
