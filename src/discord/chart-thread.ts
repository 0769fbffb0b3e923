import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { createCanvas, GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';
import { BarController, BarElement, CategoryScale, Chart, LinearScale, type Plugin } from 'chart.js';
import type { Bars } from './chart.ts';

/**
 * The card is dark and opaque, so it looks the same in Discord's dark and light themes. The font is part of the bot,
 * because a minimal server has no fonts.
 */

/** Pixels. Discord shows the image at about half that size, a phone at a third. */
const WIDTH = 1_100;
const HEIGHT = 540;
const FONT = { family: 'B612', size: 38 };
const FONT_FILE = fileURLToPath(import.meta.resolve('@fontsource/b612/files/b612-latin-400-normal.woff2'));
const BACK = '#1f2126';
const LINES = '#3a3e46';
const ZERO = '#8b929e';
const INK = '#d7dae0';
const COLORS = { up: '#3fb950', down: '#f4705f', other: '#a986f0' };

const card: Plugin = {
  id: 'card',
  beforeDraw({ ctx }) {
    const context = ctx as unknown as SKRSContext2D;
    context.fillStyle = BACK;
    context.fillRect(0, 0, WIDTH, HEIGHT);
  },
};

function draw({ labels, up, down, other }: Bars): Buffer {
  Chart.register(BarController, BarElement, CategoryScale, LinearScale);
  GlobalFonts.registerFromPath(FONT_FILE, FONT.family);
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
      layout: { padding: { top: 40, right: 36, bottom: 24, left: 24 } },
      scales: {
        x: {
          stacked: true,
          ticks: {
            color: INK,
            font: FONT,
            padding: 12,
            maxRotation: 0,
            maxTicksLimit: 9,
          },
          grid: { display: false },
          border: { display: false },
        },
        y: {
          stacked: true,
          ticks: {
            color: INK,
            font: FONT,
            padding: 14,
            maxTicksLimit: 6,
            precision: 0,
            callback: (count) => String(Math.abs(Number(count))),
          },
          border: { display: false },
          grid: {
            drawTicks: false,
            lineWidth: 2,
            color: ({ tick }: { tick?: { value: number } }) => (tick?.value === 0 ? ZERO : LINES),
          },
        },
      },
    },
    plugins: [card],
  });
  const png = canvas.toBuffer('image/png');
  chart.destroy();
  return png;
}

parentPort!.postMessage(draw(workerData as Bars));
