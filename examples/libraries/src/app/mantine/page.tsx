import { useState } from 'react'
import { Accordion, Button, Slider, Title } from '@mantine/core'

export const metadata = { title: 'Mantine' }

export default function MantinePage() {
  const [wheels, setWheels] = useState(1)
  return (
    <>
      <Title order={1}>Mantine</Title>
      <Button onClick={() => setWheels(wheels + 1)}>{`${wheels} wheels`}</Button>
      <Slider aria-label="Level" defaultValue={40} my="md" />
      <Accordion>
        <Accordion.Item value="upper">
          <Accordion.Control>Upper mill</Accordion.Control>
          <Accordion.Panel>It has two wheels.</Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </>
  )
}
