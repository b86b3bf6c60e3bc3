/** What the client router does around a form: double clicks, the first fault, and the progress of files. */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { actionReference, connectActions } from '../../../src/client/actions/action-reference.ts'
import { focusFirstFault } from '../../../src/client/actions/focus-first-fault.ts'
import { sendUpload } from '../../../src/client/actions/send-upload.ts'
import { suppressDoubleSubmits } from '../../../src/client/actions/suppress-double-submits.ts'

/** A form as far as the listener looks at it; what it holds is what `fill` has put there. */
class FakeForm extends EventTarget {
  fields: readonly (readonly [string, string | File])[] = []

  submit(): boolean {
    const event = Object.assign(new Event('submit', { cancelable: true }), { submitter: null })
    return this.dispatchEvent(event)
  }
}

class FakeFormData {
  readonly form: FakeForm

  constructor(form: FakeForm) {
    this.form = form
  }

  [Symbol.iterator]() {
    return this.form.fields[Symbol.iterator]()
  }
}

describe('a form that is being sent', () => {
  function sending(fields: FakeForm['fields']) {
    vi.stubGlobal('FormData', FakeFormData)
    const form = new FakeForm()
    form.fields = fields
    const call = Promise.withResolvers<void>()
    const again: boolean[] = []
    const note = (isSame: boolean): void => void again.push(isSame)
    suppressDoubleSubmits(form as unknown as HTMLFormElement, new FormData(form as never), call.promise, note)
    return { form, call, again }
  }

  test('is not sent again as it is, but once something in it is changed', () => {
    const { form, again } = sending([['name', 'ann']])
    expect(form.submit()).toBe(false)
    form.fields = [['name', 'bob']]
    expect(form.submit()).toBe(true)
    expect(again).toEqual([true, false])
  })

  test('is sent again once its call is over, however it has ended', async () => {
    for (const end of ['resolve', 'reject'] as const) {
      const { form, call } = sending([['name', 'ann']])
      call[end]()
      await call.promise.catch(() => undefined)
      await Promise.resolve()
      expect(form.submit()).toBe(true)
    }
  })

  test('is another one with another file', () => {
    const { form } = sending([['file', new File(['a'], 'a.txt', { lastModified: 1 })]])
    form.fields = [['file', new File(['a'], 'a.txt', { lastModified: 1 })]]
    expect(form.submit()).toBe(false)
    form.fields = [['file', new File(['b'], 'a.txt', { lastModified: 2 })]]
    expect(form.submit()).toBe(true)
  })
})

describe('the focus after a refusal', () => {
  const frames: (() => void)[] = []

  beforeEach(() => {
    frames.length = 0
    vi.stubGlobal('requestAnimationFrame', (work: () => void) => frames.push(work))
  })

  function refusedForm() {
    const document = { activeElement: 'button' as unknown }
    const field = (name: string, type = 'text') => ({
      name,
      type,
      ariaInvalid: null as string | null,
      focus() {
        document.activeElement = this
      },
    })
    const elements = [field('key', 'hidden'), field('toString'), field('wrong'), field('also')] as const
    focusFirstFault({ ownerDocument: document, elements } as never, { key: [], wrong: [], also: [] })
    return { document, elements }
  }

  const frame = (): void => frames.splice(0).forEach((work) => work())

  test('goes to the first wrong field, as soon as the page has marked it', () => {
    const { document, elements } = refusedForm()
    const [, , wrong, also] = elements
    // Of the time before.
    also.ariaInvalid = 'true'
    frame()
    expect(document.activeElement).toBe('button')
    wrong.ariaInvalid = 'true'
    frame()
    expect(document.activeElement).toBe(wrong)
    expect(frames).toEqual([])
  })

  test('stays where it has been moved to', () => {
    const { document, elements } = refusedForm()
    document.activeElement = 'elsewhere'
    elements[2].ariaInvalid = 'true'
    frame()
    expect(document.activeElement).toBe('elsewhere')
  })

  test('is not waited for without end', () => {
    refusedForm()
    let count = 0
    while (frames.length > 0) {
      frame()
      count += 1
    }
    expect(count).toBe(10)
  })
})

describe('an upload', () => {
  class FakeRequest extends EventTarget {
    static last: FakeRequest
    readonly upload = new EventTarget()
    readonly headers: string[] = []
    status = 0
    response: unknown = null
    aborted = false

    constructor() {
      super()
      FakeRequest.last = this
    }
    open(): void {}
    send(): void {}
    setRequestHeader(name: string, value: string): void {
      this.headers.push(`${name}: ${value}`)
    }
    getAllResponseHeaders(): string {
      return 'content-type: text/plain\r\nx-millrace-build: b1\r\n'
    }
    abort(): void {
      this.aborted = true
      this.dispatchEvent(new Event('abort'))
    }
  }

  beforeEach(() => void vi.stubGlobal('XMLHttpRequest', FakeRequest))

  test('tells how far it is, and gives what fetch would give', async () => {
    const progress: number[][] = []
    const answer = sendUpload('/x', { headers: { 'X-A': '1' } }, (loaded, total) => progress.push([loaded, total]))
    const { last } = FakeRequest
    last.upload.dispatchEvent(Object.assign(new Event('progress'), { loaded: 5, total: 10 }))
    Object.assign(last, { status: 422, response: new Blob(['no']) })
    last.dispatchEvent(new Event('load'))
    const { status, headers } = await answer
    expect([status, headers.get('X-Millrace-Build'), await (await answer).text()]).toEqual([422, 'b1', 'no'])
    expect(progress).toEqual([[5, 10]])
    expect(last.headers).toEqual(['x-a: 1'])
  })

  test('that is taken back or breaks off fails as fetch does', async () => {
    const controller = new AbortController()
    const taken = sendUpload('/x', { signal: controller.signal }, () => undefined)
    controller.abort()
    await expect(taken).rejects.toThrow(TypeError)
    expect(FakeRequest.last.aborted).toBe(true)
    const broken = sendUpload('/x', {}, () => undefined)
    FakeRequest.last.dispatchEvent(new Event('error'))
    await expect(broken).rejects.toThrow(TypeError)
  })
})

test('a reference calls its action by the router of the page', async () => {
  const asked: unknown[] = []
  connectActions({ call: (id, args) => Promise.resolve(asked.push([id, args])) })
  const save = actionReference('abc')
  await save(1, 2)
  await (save.bind(null, 7) as (input: unknown) => Promise<unknown>)('x')
  expect(asked).toEqual([
    ['abc', [1, 2]],
    ['abc', [7, 'x']],
  ])
  expect(save.actionId).toBe('abc')
})
