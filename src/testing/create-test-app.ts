import { openTestApp } from './open-test-app.ts'
import type { TestApp, TestAppOptions, TestDefinition } from './test-app.ts'

/**
 * Makes an application for tests, from its definition alone: actions get their ids when a page renders them, data goes
 * to a temporary folder, and the log is kept instead of printed. There are no scripts and styles, because no build is.
 * @throws as a server does for a faulty route table, rule or variable.
 * @example
 * ```ts
 * import { createTestApp } from 'millrace/testing'
 *
 * await using app = createTestApp(application)
 * const response = await fetch(`${await app.origin()}/mills`)
 * ```
 */
export function createTestApp(app: TestDefinition, options: TestAppOptions = {}): TestApp {
  return openTestApp(app, options)
}
