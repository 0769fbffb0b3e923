import { parentPort, workerData } from 'node:worker_threads';
import { createCanvas, Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import { BarController, BarElement, CategoryScale, Chart, LinearScale, type Plugin } from 'chart.js';
import type { Language } from '../languages/index.ts';
import { writeUngrouped } from '../languages/number.ts';
import type { Bars } from './chart.ts';

/**
 * The thread that draws one chart. Its card is dark and opaque, so that it reads the same on Discord's dark and light
 * ground. Digits are drawn as strokes, because a bare server has no fonts; everything else is said in the message.
 */

/** Pixels; Discord shows about half of that, a phone a third. */
const WIDTH = 1_100;
const HEIGHT = 540;
const DIGIT_HEIGHT = 34;
const DIGIT_PEN = 4;
const BACK = '#1f2126';
const LINES = '#3a3e46';
const ZERO = '#8b929e';
const INK = '#d7dae0';
const COLORS = { up: '#3fb950', down: '#f4705f', other: '#a986f0' };
/** Labels that fit below the bars. */
const MOST_LABELS = 9;

/** Strokes on a field 10 wide and 16 high. */
const GLYPHS: Record<string, string> = {
  0: 'M5 1C2.4 1 1 3.6 1 8s1.4 7 4 7 4-2.6 4-7-1.4-7-4-7Z',
  1: 'M2 4 6 1V15',
  2: 'M1.2 4.6C1.4 2.4 3 1 5 1s3.8 1.4 3.8 3.6C8.8 7.6 1.2 11.4 1.2 15H9',
  3: 'M1.4 2.6C2.3 1.5 3.5 1 5 1 7.3 1 8.7 2.4 8.7 4.300S7.2 7.6 4.6 7.600C7.4 7.6 9.1 9.1 9.1 11.300S7.5 15 5 15C3.2 15 1.9 14.4 1 13.2',
  4: 'M7 15V1L1 11H9.5',
  5: 'M8.5 1H2.300L1.7 7.200C2.6 6.4 3.7 6 5 6 7.5 6 9 7.9 9 10.500S7.5 15 4.9 15C3.2 15 1.9 14.4 1 13.3',
  6: 'M7.8 1.300C3.7 2.2 1 5.7 1 10.3 1 13.2 2.7 15 5 15S9 13.2 9 10.7 7.4 6.5 5.2 6.500C3.2 6.5 1.4 8 1 10.2',
  7: 'M1 1H9L4 15',
  8: 'M5 1C3 1 1.7 2.4 1.7 4.300S3.1 7.6 5 7.6 8.3 6.2 8.3 4.3 7 1 5 1ZM5 7.600C2.7 7.6 1 9.2 1 11.300S2.6 15 5 15 9 13.4 9 11.3 7.3 7.6 5 7.600Z',
  9: 'M2.2 14.700C6.3 13.8 9 10.3 9 5.7 9 2.8 7.3 1 5 1S1 2.8 1 5.3 2.6 9.5 4.8 9.500C6.8 9.5 8.6 8 9 5.8',
  ':': 'M4.9 5.500H5.100M4.9 11.500H5.1',
  '.': 'M4.9 15H5.1',
  ',': 'M5.4 14.6 4.2 17.8',
  k: 'M1.5 1V15M8 6 1.7 11.500M4 9.5 8.5 15',
};
const ADVANCE = 13;

/** Writes with strokes; `at` is the middle of the text, or with `right` the middle of its right edge. */
function write(context: SKRSContext2D, text: string, at: { x: number; y: number }, right = false): void {
  const scale = DIGIT_HEIGHT / 16;
  const width = (text.length * ADVANCE - (ADVANCE - 10)) * scale;
  context.save();
  context.translate(at.x - (right ? width : width / 2), at.y - DIGIT_HEIGHT / 2);
  context.scale(scale, scale);
  context.strokeStyle = INK;
  context.lineWidth = DIGIT_PEN / scale;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const glyph of text) {
    context.stroke(new Path2D(GLYPHS[glyph] ?? ''));
    context.translate(ADVANCE, 0);
  }
  context.restore();
}

/** 12, 250, 1.5k: what stands beside the lines. */
function shortCount(count: number, language: Language): string {
  const size = Math.abs(count);
  return size >= 1_000 ? `${writeUngrouped(String(Math.round(size / 100) / 10), language)}k` : String(size);
}

const card: Plugin = {
  id: 'card',
  beforeDraw({ ctx }) {
    const context = ctx as unknown as SKRSContext2D;
    context.fillStyle = BACK;
    context.beginPath();
    context.roundRect(0, 0, WIDTH, HEIGHT, 24);
    context.fill();
  },
};

const numbers = ({ labels, language }: Bars): Plugin => ({
  id: 'numbers',
  afterDraw({ ctx, scales, chartArea }) {
    const context = ctx as unknown as SKRSContext2D;
    const { x, y } = scales as { x: CategoryScale; y: LinearScale };
    for (const { value } of y.ticks) {
      write(context, shortCount(value, language), { x: chartArea.left - 18, y: y.getPixelForValue(value) }, true);
    }
    const every = Math.ceil(labels.length / MOST_LABELS);
    // Counted from the right: the present is what people look for.
    for (let index = labels.length - 1; index >= 0; index -= every) {
      write(context, labels[index]!, { x: x.getPixelForValue(index), y: chartArea.bottom + 28 + DIGIT_HEIGHT / 2 });
    }
  },
});

function draw(all: Bars): Buffer {
  const { labels, up, down, other } = all;
  Chart.register(BarController, BarElement, CategoryScale, LinearScale);
  const canvas = createCanvas(WIDTH, HEIGHT);
  const bars = (data: number[], color: string) => ({
    data,
    backgroundColor: color,
    stack: 'one',
    borderRadius: 5,
    categoryPercentage: 0.9,
    barPercentage: 0.9,
    maxBarThickness: 90,
  });
  const chart = new Chart(canvas as never, {
    type: 'bar',
    data: {
      labels,
      datasets: [
        bars(up, COLORS.up),
        bars(other, COLORS.other),
        bars(
          down.map((count) => -count),
          COLORS.down,
        ),
      ],
    },
    options: {
      animation: false,
      responsive: false,
      devicePixelRatio: 1,
      layout: { padding: { top: 40, right: 36, bottom: DIGIT_HEIGHT + 52, left: 140 } },
      scales: {
        x: { stacked: true, ticks: { display: false }, grid: { display: false }, border: { display: false } },
        y: {
          stacked: true,
          ticks: { display: false, maxTicksLimit: 6, precision: 0 },
          border: { display: false },
          grid: {
            drawTicks: false,
            lineWidth: 2,
            color: ({ tick }: { tick?: { value: number } }) => (tick?.value === 0 ? ZERO : LINES),
          },
        },
      },
    },
    plugins: [card, numbers(all)],
  });
  const png = canvas.toBuffer('image/png');
  chart.destroy();
  return png;
}

parentPort!.postMessage(draw(workerData as Bars));
