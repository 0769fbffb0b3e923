import { createCanvas, loadImage } from '@napi-rs/canvas';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { type Bars, createCharts } from '../../src/discord/chart.ts';

const logged: string[] = [];
const drawChart = createCharts(pino({}, { write: (line: string) => void logged.push(line) }));

const GREEN = [0x3f, 0xb9, 0x50];
const RED = [0xf4, 0x70, 0x5f];
const INK = [0xd7, 0xda, 0xe0];
const NOTHING: Bars = { labels: ['1'], up: [0], down: [0], other: [0] };

/** The colors of a rectangle of a picture, each pixel as red, green and blue. */
async function colors(png: Buffer, x: number, y: number, width: number, height: number): Promise<number[][]> {
  const image = await loadImage(png);
  const context = createCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(x, y, width, height);
  return Array.from({ length: width * height }, (_, index) => [0, 1, 2].map((part) => data[index * 4 + part]!));
}

it('draws incoming amounts above the line and outgoing ones below it, with numbers for both', async () => {
  const png = await drawChart({ ...NOTHING, labels: ['01', '02'], up: [5, 0], down: [0, 5], other: [0, 0] });
  const upperLeft = await colors(png, 360, 100, 1, 100);
  const lowerRight = await colors(png, 830, 290, 1, 100);
  expect(upperLeft).toContainEqual(GREEN);
  expect(lowerRight).toContainEqual(RED);
  expect([...(await colors(png, 360, 290, 1, 100)), ...(await colors(png, 830, 100, 1, 100))]).not.toContainEqual(RED);
  // Next to the lines and below the bars.
  expect(await colors(png, 20, 30, 60, 450)).toContainEqual(INK);
  expect(await colors(png, 240, 450, 160, 70)).toContainEqual(INK);
});

it('draws simultaneous charts one after the other', async () => {
  const bars = (up: number) => ({ ...NOTHING, up: [up] });
  const [one, two] = await Promise.all([drawChart(bars(1)), drawChart(bars(2))]);
  expect(one).not.toEqual(two);
  expect(await drawChart(bars(1))).toEqual(one);
});

it('logs why a chart cannot be drawn', async () => {
  await expect(drawChart({ ...NOTHING, down: undefined as never })).rejects.toThrow();
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'chart not drawn', err: { type: 'TypeError' } },
  ]);
});
