import { describe, expect, test } from 'vitest'
import { comparable, mainOf, WORKLOADS } from '../../bench/workloads.ts'
import type { WorkloadName } from '../../bench/workloads.ts'

function faultOf(name: WorkloadName, main: string): string | undefined {
  const workload = WORKLOADS.find((candidate) => candidate.name === name)
  if (workload === undefined) throw new Error(`no workload ${name}`)
  return workload.fault(main)
}

function uuid(index: number): string {
  return `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`
}

function rows(count: number, cell: (id: string) => string = (id) => id): string {
  return Array.from(
    { length: count },
    (_, i) => `<tr><td>${cell(uuid(2 * i))}</td><td>${uuid(2 * i + 1)}</td></tr>`,
  ).join('')
}

describe('an answer is only timed when it is right', () => {
  test('hello has its heading', () => {
    expect(faultOf('hello', '<h1>Hello</h1>')).toBeUndefined()
    expect(faultOf('hello', '<h1>Error</h1>')).toBeDefined()
  })

  test('the spiral has about 2,400 tiles', () => {
    const tile = '<div class="tile" style="left:1.00px"></div>'
    expect(faultOf('spiral', tile.repeat(2400))).toBeUndefined()
    expect(faultOf('spiral', tile.repeat(240))).toBe('240 tiles')
  })

  test('the table has 1,000 rows of UUIDs that differ', () => {
    expect(faultOf('table', rows(1000))).toBeUndefined()
    expect(faultOf('table', rows(999))).toBe('999 rows')
    expect(faultOf('table', rows(1).repeat(1000))).toBe('2 different UUIDs')
  })

  test('links has a link in every row', () => {
    expect(
      faultOf(
        'links',
        rows(1000, (id) => `<a href="/lab/cache/${id}">${id}</a>`),
      ),
    ).toBeUndefined()
    expect(faultOf('links', rows(1000))).toBe('0 links')
  })
})

describe('two servers give the same page', () => {
  test('what is new in every answer does not count, and neither do marks for the client', () => {
    const one = `<a href="/x/${uuid(1)}" data-prefetch="viewport">${uuid(1)}</a><!-- --> text`
    const other = `<a href="/x/${uuid(2)}">${uuid(2)}</a> text`
    expect(comparable(one)).toBe(comparable(other))
  })

  test('elements and text count', () => {
    expect(comparable('<p>a</p>')).not.toBe(comparable('<p>b</p>'))
    expect(comparable('<p>a</p>')).not.toBe(comparable('<div>a</div>'))
  })

  test('only the inside of main is looked at', () => {
    expect(mainOf('<body><main id="m"><h1>x</h1></main><script>1</script></body>')).toBe('<h1>x</h1>')
    expect(mainOf('<body></body>')).toBe('')
  })
})
