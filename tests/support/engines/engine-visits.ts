/** What tests do in any engine. */
import type { EnginePage } from './engine-page.ts'

/** Loads a page and waits until the client router follows its links. */
export async function visit(page: EnginePage, url: string): Promise<void> {
  // The same URL again would be a reload, whose entry has its state before the router is there.
  await page.goto('about:blank')
  await page.goto(url)
  await page.until(() => history.state?.millrace !== undefined)
}

/** Clicks the link or button of this name, without coming near it before. */
export function press(page: EnginePage, name: string): Promise<unknown> {
  return page.run((text) => {
    const named = [...document.querySelectorAll<HTMLElement>('a,button')].find((one) => one.textContent === text)
    if (named === undefined) throw new Error(`Nothing is named ${text}`)
    named.click()
  }, name)
}

/** Types into the control of this `name`, as far as scripts can. */
export function type(page: EnginePage, name: string, text: string): Promise<unknown> {
  return page.run(
    (field, typed) => {
      document.querySelector<HTMLInputElement>(`[name="${field}"]`)?.focus()
      document.execCommand('insertText', false, typed)
    },
    name,
    text,
  )
}

/** Moves in the history, which may end the document. */
export function travel(page: EnginePage, delta: number): Promise<unknown> {
  return page.run((by) => void setTimeout(() => history.go(by)), delta)
}

/** Waits for a page by its name. */
export function expectHeading(page: EnginePage, name: string): Promise<void> {
  return page.until((text) => document.querySelector('h1')?.textContent === text, name)
}

/** Waits for what a test id holds. */
export function expectShown(page: EnginePage, testId: string, text: string): Promise<void> {
  return page.until(
    (id, part) => document.querySelector(`[data-testid="${id}"]`)?.textContent?.includes(part) === true,
    testId,
    text,
  )
}
