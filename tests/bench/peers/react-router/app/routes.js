import { route } from '@react-router/dev/routes'

export default [
  route('lab/bench', 'routes/layout.jsx', [
    route('hello', 'routes/hello.jsx'),
    route('spiral', 'routes/spiral.jsx'),
    route('table', 'routes/table.jsx'),
    route('links', 'routes/links.jsx'),
  ]),
]
