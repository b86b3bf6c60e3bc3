import { describe, expect, test } from 'vitest'
import { FormError, HtmlSizeError, submitForm } from 'millrace/testing'

/** What a form sends, in order. */
async function sent(html: string, selector = 'form', values = {}) {
  const { entries } = await submitForm(html, selector, values, { page: '/page' })
  return entries.map(([name, value]) => `${name}=${typeof value === 'string' ? value : `[${value.name}]`}`)
}

const form = (content: string, attributes = 'action="/send" method="post"') => `<form ${attributes}>${content}</form>`

describe('what is sent is what the HTML standard says', () => {
  test.for([
    [
      'hidden fields and texts, in order',
      '<input type=hidden name=a value=1><input name=b value="x&amp;y">',
      ['a=1', 'b=x&y'],
    ],
    ['nothing without a name', '<input value=1><button>ok</button>', []],
    [
      'checked boxes, with "on" by default',
      '<input type=checkbox name=a checked><input type=checkbox name=a value=2>',
      ['a=on'],
    ],
    [
      'the last of the checked radio buttons',
      '<input type=radio name=a value=1 checked><input type=radio name=a value=2 checked>',
      ['a=2'],
    ],
    [
      'the first option that may be chosen',
      '<select name=a><option disabled value=1>x<option> two  words <option>3</select>',
      ['a=two words'],
    ],
    ['the last of the marked options', '<select name=a><option selected>1<option selected>2</select>', ['a=2']],
    ['no option of a list of several lines', '<select name=a size=2><option>1</select>', []],
    [
      'all marked options of a multiple list',
      '<select name=a multiple><option selected>1<option>2<option selected>3</select>',
      ['a=1', 'a=3'],
    ],
    [
      'no option of a disabled group',
      '<select name=a multiple><optgroup disabled><option selected>1</optgroup></select>',
      [],
    ],
    ['a textarea without its first line break, with CRLF', '<textarea name=a>\nx\ny</textarea>', ['a=x\r\ny']],
    [
      'no disabled fields',
      '<input name=a disabled><fieldset disabled><legend><input name=b></legend><input name=c></fieldset>',
      ['b='],
    ],
    ['fields of a datalist are none', '<datalist><input name=a></datalist><input name=b>', ['b=']],
    ['an empty file', '<input type=file name=a>', ['a=[]']],
    [
      'the first button, as by the Enter key',
      '<button name=a type=button>x</button><button name=b value=1>x</button><button name=b value=2>x</button>',
      ['b=1'],
    ],
    ['an image button as coordinates', '<input type=image name=a>', ['a.x=0', 'a.y=0']],
    ['the encoding, where it is asked for', '<input type=hidden name=_charset_>', ['_charset_=UTF-8']],
    ['the direction of a text', '<div dir=rtl><input name=a dirname=b></div>', ['a=', 'b=rtl']],
    [
      'the middle of a range, and black',
      '<input type=range name=a min=10 max=20><input type=color name=b>',
      ['a=15', 'b=#000000'],
    ],
    [
      'what is in noscript, and not what is in a template',
      '<noscript><input name=a></noscript><template><input name=b></template>',
      ['a='],
    ],
  ] as const)('%s', async ([, content, expected]) => {
    expect(await sent(form(content))).toEqual(expected)
  })

  test('fields outside of a form belong to the form that they name, those inside may name another', async () => {
    const html =
      '<input name=a form=one><form id=one action=/1><input name=b><input name=c form=two><input name=d form=none></form><form id=two action=/2></form>'
    expect(await sent(html, '#one')).toEqual(['a=', 'b='])
    expect(await sent(html, '#two')).toEqual(['c='])
  })

  test('a button brings its own name, address and method', async () => {
    const html = form(
      '<button name=do value=save>Save</button><button id=drop name=do value=drop formaction=/drop formmethod=get>Drop</button>',
    )
    expect(await submitForm(html, 'form')).toMatchObject({ method: 'POST', url: '/send', entries: [['do', 'save']] })
    expect(await submitForm(html, '#drop')).toMatchObject({ method: 'GET', url: '/drop?do=drop', headers: {} })
  })
})

describe('the request', () => {
  test('of a search replaces the query of its address', async () => {
    const html = form('<input name=q value="a b">', 'action="/find?old=1#there"')
    expect(await submitForm(html, 'form')).toMatchObject({ method: 'GET', url: '/find?q=a+b', headers: {} })
  })

  test('is encoded as the form says', async () => {
    const fields = '<input name=a value="1 2"><textarea name=b>x\ny</textarea>'
    const plain = await submitForm(form(fields), 'form')
    expect(plain.headers).toEqual({ 'Content-Type': 'application/x-www-form-urlencoded' })
    expect(String(plain.body)).toBe('a=1+2&b=x%0D%0Ay')
    const multipart = await submitForm(form(fields, 'action=/ method=post enctype="multipart/form-data"'), 'form')
    const parsed = await new Response(multipart.body, { headers: multipart.headers }).formData()
    expect([...parsed]).toEqual([
      ['a', '1 2'],
      ['b', 'x\r\ny'],
    ])
  })

  test('holds the files that were chosen', async () => {
    const html = form('<input type=file name=a multiple>', 'action=/ method=post enctype="multipart/form-data"')
    const files = ['1', '2'].map((name) => new File([`file ${name}`], `${name}".txt`, { type: 'text/plain' }))
    const { body, headers } = await submitForm(html, 'form', { a: files })
    const parsed = await new Response(body, { headers }).formData()
    const received = parsed.getAll('a') as File[]
    expect(await Promise.all(received.map((file) => file.text()))).toEqual(['file 1', 'file 2'])
    expect(received[0]?.type).toBe('text/plain')
  })

  test('leads to an address beside its page, and to the page itself without one', async () => {
    const page = { page: '/shop/cart?tab=1' }
    expect((await submitForm(form('', 'action=pay method=post'), 'form', {}, page)).url).toBe('/shop/pay')
    expect((await submitForm(form('', 'method=post'), 'form', {}, page)).url).toBe('/shop/cart?tab=1')
    expect((await submitForm('<base href="/base/">' + form('', 'action=pay'), 'form', {}, page)).url).toBe('/base/pay')
    expect((await submitForm(form('', 'action="https://pay.test/x" method=post'), 'form')).url).toBe(
      'https://pay.test/x',
    )
    await expect(submitForm(form('', 'method=post'), 'form')).rejects.toThrow("{ page: '/sign-in' }")
  })
})

describe('filling in', () => {
  const html = form(
    '<input type=hidden name=$ACTION_ID value=x><input name=name><input type=checkbox name=news><input type=checkbox name=tag value=a checked><input type=checkbox name=tag value=b>' +
      '<input type=radio name=size value=s><input type=radio name=size value=l><select name=colour><option>red<option value=b>blue</select>' +
      '<input type=file name=file><input name=off disabled><input name=twice><input name=twice value=2>',
    'id=order action=/ method=post',
  )

  test('sets what a visitor sets', async () => {
    const values = { name: 7, news: true, tag: ['b'], size: 'l', colour: 'b', twice: ['1', '3'] }
    const expected = [
      '$ACTION_ID=x',
      'name=7',
      'news=on',
      'tag=b',
      'size=l',
      'colour=b',
      'file=[]',
      'twice=1',
      'twice=3',
    ]
    expect(await sent(html, '#order', values)).toEqual(expected)
    expect(await sent(html, '#order', { tag: [] })).not.toContain('tag=a')
  })

  test.for([
    [{ nmae: 'x' }, '<form id="order"> has no field "nmae". Its fields are "name", "news", "tag"'],
    [{ off: 'x' }, 'disabled'],
    [{ colour: 'green' }, 'does not offer "green", but "red", "b"'],
    [{ size: 'm' }, 'does not offer "m", but "s", "l"'],
    [{ tag: ['c'] }, 'does not offer "c"'],
    [{ tag: true }, 'is 2 checkboxes'],
    [{ colour: ['red', 'b'] }, 'takes one of its options'],
    [{ name: true }, 'takes text, not boolean'],
    [{ name: new File([], 'x') }, 'takes text, not a File'],
    [{ file: 'x' }, 'takes a File, not string'],
    [{ file: [new File([], 'x'), new File([], 'y')] }, 'takes one file'],
    [{ twice: ['1', '2', '3'] }, 'takes 2 texts, not 3'],
  ] as const)('refuses %j', async ([values, message]) => {
    const failure = submitForm(html, '#order', values)
    await expect(failure).rejects.toThrow(FormError)
    await expect(failure).rejects.toThrow(message)
  })

  test('a selector that matches no form, two, or something else names what is there', async () => {
    const two = `${html}<form id=other action=/><input name=x></form><button disabled form=other id=no>x</button>`
    await expect(submitForm(two, 'form')).rejects.toThrow(
      'form matches 2 elements: <form id="order">, <form id="other">. Name one.',
    )
    await expect(submitForm(two, '#none')).rejects.toThrow('The page has these: <form id="order">, <form id="other">')
    await expect(submitForm('<p>', 'form')).rejects.toThrow('no forms')
    await expect(submitForm(two, '[name=x]')).rejects.toThrow('neither a form nor a button')
    await expect(submitForm(two, '#no')).rejects.toThrow('is disabled')
    await expect(submitForm(form('', 'method=dialog'), 'form', {}, { page: '/' })).rejects.toThrow('sends nothing')
    await expect(submitForm(form('', 'action="javascript:x"'), 'form')).rejects.toThrow('which is not a page')
  })
})

describe('HTML that no page has', () => {
  test('a million elements are read', async () => {
    const html = '<input name=a>'.repeat(1_000_000)
    expect((await sent(`<form action=/ method=post>${html}</form>`)).length).toBe(1_000_000)
  })

  test('nested too deeply, or too long, it is refused', async () => {
    await expect(submitForm('<b>'.repeat(100_000), 'form')).rejects.toThrow(HtmlSizeError)
    await expect(submitForm('<div>'.repeat(100_000), 'form')).rejects.toThrow('nests more than 512 elements')
    await expect(submitForm(' '.repeat(70_000_000), 'form')).rejects.toThrow(HtmlSizeError)
  })
})
