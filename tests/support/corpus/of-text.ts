import type { CorpusEntry } from './corpus-entry.ts'

/** Dates, texts, numbers, ids, validation. */
export const OF_TEXT: readonly CorpusEntry[] = [
  {
    name: 'lodash',
    install: ['lodash@4.18.1', '@types/lodash@4.17.27'],
    server: [
      `import { startCase } from 'lodash'\nimport camelCase from 'lodash/camelCase'`,
      `startCase('upper mill') + camelCase('upper mill')`,
    ],
    page: [`import _, { chunk } from 'lodash'`, `<b>{JSON.stringify(chunk([1, 2, 3], 2)) + _.sum([20, 22])}</b>`],
    shows: ['Upper MillupperMill', '[[1,2],[3]]42'],
  },
  {
    name: 'lodash-es',
    install: ['lodash-es@4.18.1', '@types/lodash-es@4.17.12'],
    server: [`import { kebabCase } from 'lodash-es'`, `kebabCase('Upper Mill')`],
    page: [`import { range } from 'lodash-es'`, `<b>{range(3).join('-')}</b>`],
    shows: ['upper-mill', '0-1-2'],
  },
  {
    name: 'dayjs',
    install: ['dayjs@1.11.23'],
    server: [
      `import dayjs from 'dayjs'\nimport utc from 'dayjs/plugin/utc'\ndayjs.extend(utc)`,
      `dayjs.utc(0).format('YYYY-MM-DD')`,
    ],
    page: [
      `import dayjs from 'dayjs'\nimport utc from 'dayjs/plugin/utc'\nimport relativeTime from 'dayjs/plugin/relativeTime'\ndayjs.extend(utc)\ndayjs.extend(relativeTime)`,
      `<b>{dayjs.utc('2026-01-01').from(dayjs.utc('2026-01-03'))}</b>`,
    ],
    shows: ['1970-01-01', '2 days ago'],
  },
  {
    name: 'date-fns',
    install: ['date-fns@4.4.0'],
    server: [
      `import { addDays, formatISO } from 'date-fns'`,
      `formatISO(addDays(new Date(2026, 0, 1), 1), { representation: 'date' })`,
    ],
    page: [
      `import { format } from 'date-fns'\nimport { de } from 'date-fns/locale'`,
      `<b>{format(new Date(2026, 2, 1), 'MMMM', { locale: de })}</b>`,
    ],
    shows: ['2026-01-02', 'März'],
  },
  {
    name: 'luxon',
    install: ['luxon@3.7.2', '@types/luxon@3.7.6'],
    server: [
      `import { DateTime } from 'luxon'`,
      `DateTime.fromISO('2026-05-15', { zone: 'utc' }).toFormat('dd.MM.yyyy')`,
    ],
    page: [`import { Duration } from 'luxon'`, `<b>{Duration.fromObject({ minutes: 90 }).toFormat("h'h' m'm'")}</b>`],
    shows: ['15.05.2026', '1h 30m'],
  },
  {
    name: 'moment',
    install: ['moment@2.31.0'],
    server: [`import moment from 'moment'`, `moment.utc(0).format('YYYY')`],
    page: [`import moment from 'moment'`, `<b>{moment.duration(90, 'minutes').asHours()} hours</b>`],
    shows: ['1970', '1.5 hours'],
  },
  {
    name: 'papaparse',
    install: ['papaparse@5.7.1', '@types/papaparse@5.5.2'],
    server: [`import { unparse } from 'papaparse'`, `unparse([{ mill: 'upper', wheels: 2 }])`],
    page: [`import Papa from 'papaparse'`, `<b>{Papa.parse<string[]>('a,b').data[0]?.join('+')}</b>`],
    shows: ['mill,wheels', 'a+b'],
  },
  {
    name: 'qs',
    install: ['qs@6.17.1', '@types/qs@6.15.1'],
    server: [`import qs from 'qs'`, `qs.stringify({ mill: { wheels: 2 } }, { encode: false })`],
    page: [`import { parse } from 'qs'`, `<b>{JSON.stringify(parse('a[b]=c'))}</b>`],
    shows: ['mill[wheels]=2', '{"a":{"b":"c"}}'],
  },
  {
    name: 'uuid',
    install: ['uuid@14.0.3'],
    server: [`import { v5 as uuid } from 'uuid'`, `uuid('mill', uuid.URL)`],
    page: [`import { validate, NIL } from 'uuid'`, `<b>{validate(NIL) ? 'valid' : 'invalid'}</b>`],
    shows: ['valid'],
  },
  {
    name: 'nanoid',
    install: ['nanoid@5.1.16'],
    server: [`import { nanoid } from 'nanoid'`, `'length ' + nanoid(12).length`],
    page: [`import { urlAlphabet } from 'nanoid'`, `<b>letters {urlAlphabet.length}</b>`],
    shows: ['length 12', 'letters 64'],
  },
  {
    name: 'zod',
    install: ['zod@4.6.7'],
    server: [
      `import { z } from 'zod'`,
      `z.object({ wheels: z.coerce.number() }).parse({ wheels: '2' }).wheels + ' wheels'`,
    ],
    page: [`import * as z from 'zod'`, `<b>{z.string().safeParse(1).success ? 'a text' : 'no text'}</b>`],
    shows: ['2 wheels', 'no text'],
  },
  {
    name: 'yup',
    install: ['yup@1.7.1'],
    server: [`import * as yup from 'yup'`, `yup.number().cast('7') + ' gates'`],
    page: [
      `import { string } from 'yup'`,
      `<b>{string().email().isValidSync('mill') ? 'an address' : 'no address'}</b>`,
    ],
    shows: ['7 gates', 'no address'],
  },
  {
    name: 'currency.js',
    install: ['currency.js@2.0.4'],
    server: [`import currency from 'currency.js'`, `currency('1234.5').add(0.25).format()`],
    page: [`import currency from 'currency.js'`, `<b>{currency(0.1).add(0.2).toString()}</b>`],
    shows: ['$1,234.75', '0.30'],
  },
  {
    name: 'dinero.js',
    install: ['dinero.js@1.9.1', '@types/dinero.js@1.9.4'],
    server: [
      `import Dinero from 'dinero.js'`,
      `Dinero({ amount: 500, currency: 'EUR' }).multiply(2).getAmount() + ' cents'`,
    ],
    shows: ['1000 cents'],
  },
  {
    name: 'axios',
    install: ['axios@1.21.1'],
    server: [`import axios from 'axios'`, `axios.getUri({ url: '/mills', params: { page: 2 } })`],
    page: [
      `import axios, { isAxiosError } from 'axios'`,
      `<b>{isAxiosError(new Error()) ? 'its error' : typeof axios.create}</b>`,
    ],
    shows: ['/mills?page=2', 'function'],
  },
  {
    name: 'i18next',
    install: ['i18next@26.7.2', 'react-i18next@17.1.13'],
    page: [
      `import i18next from 'i18next'\nimport { I18nextProvider, useTranslation } from 'react-i18next'\nconst i18n = i18next.createInstance()\nvoid i18n.init({ lng: 'de', initAsync: false, resources: { de: { translation: { mill: 'Mühle' } } } })\nfunction Mill() {\n  const { t } = useTranslation()\n  return <b>{t('mill')}</b>\n}`,
      `<I18nextProvider i18n={i18n}><Mill /></I18nextProvider>`,
    ],
    shows: ['Mühle'],
  },
]
