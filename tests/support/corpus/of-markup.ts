import type { CorpusEntry } from './corpus-entry.ts'

/** Markdown, HTML, templates, documents. */
export const OF_MARKUP: readonly CorpusEntry[] = [
  {
    name: 'marked',
    install: ['marked@18.2.1'],
    server: [`import { marked } from 'marked'`, `String(await marked('*mill*'))`],
    page: [`import { lexer } from 'marked'`, `<b>{lexer('# Mill')[0]?.type}</b>`],
    shows: ['<p><em>mill</em></p>', 'heading'],
  },
  {
    name: 'markdown-it',
    install: ['markdown-it@15.0.3', '@types/markdown-it@14.2.0'],
    server: [`import MarkdownIt from 'markdown-it'`, `new MarkdownIt().renderInline('**mill**')`],
    page: [`import markdownit from 'markdown-it'`, `<b>{markdownit().renderInline('*gate*')}</b>`],
    shows: ['<strong>mill</strong>', '<em>gate</em>'],
  },
  {
    name: 'react-markdown',
    install: ['react-markdown@10.1.0', 'remark-gfm@4.0.1'],
    page: [
      `import Markdown from 'react-markdown'\nimport remarkGfm from 'remark-gfm'`,
      `<Markdown remarkPlugins={[remarkGfm]}>{'~~Lower~~ Upper mill'}</Markdown>`,
    ],
    shows: ['Upper mill'],
  },
  {
    name: 'isomorphic-dompurify',
    install: ['isomorphic-dompurify@3.19.0'],
    server: [`import DOMPurify from 'isomorphic-dompurify'`, `DOMPurify.sanitize('<b onclick="x()">mill</b>')`],
    shows: ['<b>mill</b>'],
  },
  {
    name: 'sanitize-html',
    install: ['sanitize-html@2.17.5', '@types/sanitize-html@2.16.2'],
    server: [`import sanitizeHtml from 'sanitize-html'`, `sanitizeHtml('<script>x()</script><i>mill</i>')`],
    shows: ['<i>mill</i>'],
  },
  {
    name: 'handlebars',
    install: ['handlebars@4.7.10'],
    server: [`import Handlebars from 'handlebars'`, `Handlebars.compile('{{mill}} mill')({ mill: 'Upper' })`],
    shows: ['Upper mill'],
  },
  {
    name: 'ejs',
    install: ['ejs@7.0.2', '@types/ejs@3.1.5'],
    server: [`import ejs from 'ejs'`, `ejs.render('<%= wheels %> wheels', { wheels: 3 })`],
    shows: ['3 wheels'],
  },
  {
    name: 'cheerio',
    install: ['cheerio@1.2.0'],
    server: [`import * as cheerio from 'cheerio'`, `cheerio.load('<p>mill</p>')('p').text() + ' found'`],
    shows: ['mill found'],
  },
  {
    name: 'pdfkit',
    install: ['pdfkit@0.20.2', '@types/pdfkit@0.17.6'],
    server: [
      `import PDFDocument from 'pdfkit'`,
      `new PDFDocument().font('Helvetica').widthOfString('mill') > 10 ? 'a wide mill' : 'narrow'`,
    ],
    shows: ['a wide mill'],
  },
  {
    name: 'pdf-lib',
    install: ['pdf-lib@1.17.1'],
    server: [
      `import { PDFDocument } from 'pdf-lib'`,
      `(await PDFDocument.create()).addPage([300, 200]).getWidth() + ' points'`,
    ],
    shows: ['300 points'],
  },
  {
    name: 'exceljs',
    install: ['exceljs@4.4.0'],
    server: [`import ExcelJS from 'exceljs'`, `new ExcelJS.Workbook().addWorksheet('mills').name + ' sheet'`],
    shows: ['mills sheet'],
  },
  {
    name: 'highlight.js',
    install: ['highlight.js@11.12.0'],
    server: [
      `import hljs from 'highlight.js'`,
      `hljs.highlight('const a = 1', { language: 'javascript' }).language ?? ''`,
    ],
    page: [
      `import hljs from 'highlight.js/lib/core'\nimport json from 'highlight.js/lib/languages/json'\nimport 'highlight.js/styles/github.css'\nhljs.registerLanguage('json', json)`,
      `<b>{hljs.highlight('1', { language: 'json' }).value}</b>`,
    ],
    shows: ['javascript', 'hljs-number'],
  },
]
