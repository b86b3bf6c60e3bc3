import type { CorpusEntry } from './corpus-entry.ts'

/** Components, state, forms, charts, icons: what pages import. */
export const OF_PAGES: readonly CorpusEntry[] = [
  {
    name: 'react-hook-form',
    install: ['react-hook-form@7.92.0', '@hookform/resolvers@7.0.7', 'zod@4.6.7'],
    page: [
      `import { useForm } from 'react-hook-form'\nimport { zodResolver } from '@hookform/resolvers/zod'\nimport { z } from 'zod'\nfunction Form() {\n  const { register } = useForm({ resolver: zodResolver(z.object({ mill: z.string() })), defaultValues: { mill: 'upper' } })\n  return <label>Mill of the form <input {...register('mill')} /></label>\n}`,
      `<Form />`,
    ],
    shows: ['Mill of the form'],
  },
  {
    name: 'react-table',
    install: ['@tanstack/react-table@8.21.3'],
    page: [
      `import { createColumnHelper, flexRender, getCoreRowModel, useReactTable } from '@tanstack/react-table'\nconst helper = createColumnHelper<{ mill: string }>()\nconst columns = [helper.accessor('mill', { header: 'Mills' })]\nconst data = [{ mill: 'Upper mill' }]\nfunction Table() {\n  const table = useReactTable({ data, columns, getCoreRowModel: getCoreRowModel() })\n  return <ul>{table.getRowModel().rows.flatMap((row) => row.getVisibleCells().map((cell) => <li key={cell.id}>{flexRender(cell.column.columnDef.cell, cell.getContext())}</li>))}</ul>\n}`,
      `<Table />`,
    ],
    shows: ['Upper mill'],
  },
  {
    name: 'react-query',
    install: ['@tanstack/react-query@5.108.0'],
    server: [
      `import { dehydrate, QueryClient } from '@tanstack/react-query'`,
      `String(dehydrate(new QueryClient()).queries.length) + ' queries'`,
    ],
    page: [
      `import { useState } from 'react'\nimport { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'\nfunction Level() {\n  const { data } = useQuery({ queryKey: ['level'], queryFn: () => 40, initialData: 40, staleTime: Infinity })\n  return <b>{data} cm</b>\n}\nfunction Queries() {\n  const [client] = useState(() => new QueryClient())\n  return <QueryClientProvider client={client}><Level /></QueryClientProvider>\n}`,
      `<Queries />`,
    ],
    shows: ['0 queries', '40 cm'],
  },
  {
    name: 'zustand',
    install: ['zustand@5.1.0'],
    server: [
      `import { createStore } from 'zustand/vanilla'`,
      `createStore(() => ({ level: 4 })).getState().level + ' of a store'`,
    ],
    page: [
      `import { create } from 'zustand'\nconst useLevel = create(() => ({ level: 5 }))\nfunction Level() {\n  return <b>{useLevel((state) => state.level)} in the page</b>\n}`,
      `<Level />`,
    ],
    shows: ['4 of a store', '5 in the page'],
  },
  {
    name: 'jotai',
    install: ['jotai@2.20.3'],
    page: [
      `import { atom, useAtomValue } from 'jotai'\nconst level = atom(6)\nfunction Level() {\n  return <b>{useAtomValue(level)} atoms</b>\n}`,
      `<Level />`,
    ],
    shows: ['6 atoms'],
  },
  {
    name: 'redux-toolkit',
    install: ['@reduxjs/toolkit@2.14.0', 'react-redux@9.3.1'],
    server: [
      `import { createSlice } from '@reduxjs/toolkit'`,
      `createSlice({ name: 'mill', initialState: 1, reducers: { turn: (state) => state + 1 } }).actions.turn().type`,
    ],
    page: [
      `import { configureStore } from '@reduxjs/toolkit'\nimport { Provider, useSelector } from 'react-redux'\nconst store = configureStore({ reducer: () => ({ level: 7 }) })\nfunction Level() {\n  return <b>{useSelector((state: { level: number }) => state.level)} in Redux</b>\n}`,
      `<Provider store={store}><Level /></Provider>`,
    ],
    shows: ['mill/turn', '7 in Redux'],
  },
  {
    name: 'recharts',
    install: ['recharts@3.11.0', 'react-is@19.3.1'],
    page: [
      `import { Bar, BarChart, XAxis } from 'recharts'`,
      `<BarChart width={300} height={100} data={[{ name: 'Upper', wheels: 2 }]}><XAxis dataKey="name" /><Bar dataKey="wheels" isAnimationActive={false} /></BarChart>`,
    ],
    shows: [],
  },
  {
    name: 'chart.js',
    install: ['chart.js@4.6.1', 'react-chartjs-2@5.3.1'],
    page: [
      `import { Chart, ArcElement, registerables } from 'chart.js'\nimport { Pie } from 'react-chartjs-2'\nChart.register(...registerables)`,
      `<><b>{ArcElement.id}</b><Pie data={{ labels: ['a'], datasets: [{ data: [1] }] }} options={{ animation: false }} /></>`,
    ],
    shows: ['arc'],
  },
  {
    name: 'lucide-react',
    install: ['lucide-react@1.77.0'],
    page: [`import { Droplets } from 'lucide-react'`, `<><Droplets aria-hidden size={16} /> water</>`],
    shows: ['water'],
  },
  {
    name: 'react-icons',
    install: ['react-icons@5.7.0'],
    page: [`import { FaWater } from 'react-icons/fa'`, `<><FaWater /> waves</>`],
    shows: ['waves'],
  },
  {
    name: 'mui',
    install: ['@mui/material@9.5.0', '@emotion/react@11.14.0', '@emotion/styled@11.14.1', '@mui/icons-material@9.5.0'],
    page: [
      `import Button from '@mui/material/Button'\nimport { Chip, NoSsr } from '@mui/material'\nimport Delete from '@mui/icons-material/Delete'`,
      `<><Chip label="A chip" /><NoSsr><Button startIcon={<Delete />}>Remove</Button></NoSsr></>`,
    ],
    shows: ['A chip'],
  },
  {
    name: 'radix-ui',
    install: ['@radix-ui/react-dialog@1.3.1', '@radix-ui/react-tabs@1.2.1'],
    page: [
      `import * as Dialog from '@radix-ui/react-dialog'\nimport * as Tabs from '@radix-ui/react-tabs'`,
      `<><Dialog.Root><Dialog.Trigger>Open</Dialog.Trigger></Dialog.Root><Tabs.Root defaultValue="one"><Tabs.List><Tabs.Trigger value="one">Tab one</Tabs.Trigger></Tabs.List></Tabs.Root></>`,
    ],
    shows: ['Open', 'Tab one'],
  },
  {
    name: 'framer-motion',
    install: ['framer-motion@14.14.0'],
    page: [`import { motion } from 'framer-motion'`, `<motion.b animate={{ opacity: 1 }}>It moves</motion.b>`],
    shows: ['It moves'],
  },
  {
    name: 'react-datepicker',
    install: ['react-datepicker@9.1.0'],
    page: [
      `import DatePicker from 'react-datepicker'\nimport 'react-datepicker/dist/react-datepicker.css'`,
      `<><b>Pick a day</b><DatePicker selected={new Date(2026, 0, 2)} onChange={() => undefined} /></>`,
    ],
    shows: ['Pick a day'],
  },
  {
    name: 'swiper',
    install: ['swiper@14.4.0'],
    page: [
      `import { Swiper, SwiperSlide } from 'swiper/react'\nimport { Navigation } from 'swiper/modules'\nimport 'swiper/css'\nimport 'swiper/css/navigation'`,
      `<Swiper modules={[Navigation]} navigation><SwiperSlide>First slide</SwiperSlide></Swiper>`,
    ],
    shows: ['First slide'],
  },
  {
    name: 'leaflet',
    install: ['leaflet@1.9.4', '@types/leaflet@1.9.22'],
    page: [
      `import { lazy } from 'react'\nimport { ClientOnly } from 'millrace'\nimport 'leaflet/dist/leaflet.css'\nconst Version = lazy(async () => {\n  const { version, latLng } = await import('leaflet')\n  return { default: () => <b>{version.split('.')[0]} {latLng(1, 2).lat}</b> }\n})`,
      `<ClientOnly fallback={<b>A map follows</b>}>{() => <Version />}</ClientOnly>`,
    ],
    shows: ['A map follows'],
  },
  {
    name: 'mantine',
    install: ['@mantine/core@9.8.1', '@mantine/hooks@9.8.1'],
    page: [
      `import { Badge, MantineProvider } from '@mantine/core'\nimport '@mantine/core/styles.css'`,
      `<MantineProvider><Badge>A badge</Badge></MantineProvider>`,
    ],
    shows: ['A badge'],
  },
  {
    name: 'fontsource',
    install: ['@fontsource/inter@5.3.0', 'clsx@2.1.1', 'class-variance-authority@0.7.1', 'tailwind-merge@3.7.0'],
    page: [
      `import '@fontsource/inter'\nimport clsx from 'clsx'\nimport { cva } from 'class-variance-authority'\nimport { twMerge } from 'tailwind-merge'`,
      `<b>{clsx('a', { b: true })} {cva('c')()} {twMerge('p-1 p-2')}</b>`,
    ],
    shows: ['a b c p-2'],
  },
]
