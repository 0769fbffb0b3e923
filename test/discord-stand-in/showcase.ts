import {
  ActionRowBuilder,
  ApplicationCommandType,
  ButtonBuilder,
  ButtonStyle,
  type ChatInputCommandInteraction,
  type Client,
  ContainerBuilder,
  Events,
  type Interaction,
  MessageFlags,
  ModalBuilder,
  SeparatorBuilder,
  StringSelectMenuBuilder,
  TextDisplayBuilder,
  TextInputBuilder,
  TextInputStyle,
  ApplicationCommandOptionType as Type,
} from 'discord.js';
import type { Discord } from '../../sandbox/discord/index.ts';
import { logIn } from './bot.ts';

const choice = (name: string) => ({ name, value: name.toLowerCase() });

const COMMANDS = [
  { name: 'form', description: 'Opens a form' },
  { name: 'menu', description: 'Shows menus' },
  { name: 'layout', description: 'Uses the new layout' },
  { name: 'count', description: 'Counts up' },
  {
    name: 'import',
    description: 'Takes a file',
    options: [{ type: Type.Attachment, name: 'file', description: 'A file', required: true }],
  },
  { name: 'sleep', description: 'Never answers' },
  { name: 'Quote this', type: ApplicationCommandType.Message },
  {
    name: 'echo',
    description: 'Says it again',
    options: [
      { type: Type.String, name: 'text', description: 'What to say', required: true },
      { type: Type.String, name: 'size', description: 'How loud', choices: ['Quiet', 'Loud'].map(choice) },
    ],
  },
];

async function answer(interaction: Interaction): Promise<void> {
  if (interaction.isModalSubmit()) {
    await interaction.reply(`Welcome, ${interaction.fields.getTextInputValue('name')}.`);
  } else if (interaction.isStringSelectMenu()) {
    await interaction.update({ content: `Chosen: ${interaction.values.join(' and ')}`, components: [] });
  } else if (interaction.isButton()) {
    const next = Number(interaction.customId) + 1;
    await interaction.update({ content: `It is ${next}`, components: [button(next)] });
  } else if (interaction.isMessageContextMenuCommand()) {
    await interaction.reply(`Quoted: ${interaction.targetMessage.content}`);
  } else if (interaction.isChatInputCommand()) {
    await answers[interaction.commandName]!(interaction);
  }
}

const button = (count: number) =>
  new ActionRowBuilder<ButtonBuilder>().addComponents(
    new ButtonBuilder().setCustomId(String(count)).setLabel('More').setStyle(ButtonStyle.Primary),
    new ButtonBuilder().setCustomId('less').setLabel('Less').setStyle(ButtonStyle.Primary).setDisabled(true),
  );

const answers: Record<string, (interaction: ChatInputCommandInteraction) => Promise<unknown>> = {
  form: (interaction) => {
    const name = new TextInputBuilder({ customId: 'name', label: 'Name', style: TextInputStyle.Short, minLength: 2 });
    const row = new ActionRowBuilder<TextInputBuilder>().addComponents(name);
    return interaction.showModal(new ModalBuilder().setCustomId('form').setTitle('Who are you?').addComponents(row));
  },
  menu: (interaction) => {
    const options = ['Red', 'Green', 'Blue'].map((label) => ({ label, value: label.toLowerCase() }));
    const menu = new StringSelectMenuBuilder({ customId: 'colors', placeholder: 'Colors', maxValues: 2, options });
    const row = new ActionRowBuilder<StringSelectMenuBuilder>().addComponents(menu);
    return interaction.reply({ content: 'Choose', components: [row], flags: MessageFlags.Ephemeral });
  },
  layout: (interaction) => {
    const container = new ContainerBuilder()
      .setAccentColor(0xff0000)
      .addTextDisplayComponents(new TextDisplayBuilder().setContent('## A **bold** layout'))
      .addSeparatorComponents(new SeparatorBuilder());
    return interaction.reply({ flags: MessageFlags.IsComponentsV2, components: [container] });
  },
  count: (interaction) => interaction.reply({ content: 'It is 0', components: [button(0)] }),
  import: async (interaction) => {
    const file = interaction.options.getAttachment('file', true);
    const text = await (await fetch(file.url)).text();
    const files = [{ attachment: Buffer.from(text), name: 'copy.csv' }];
    await interaction.reply({ content: `${file.name}: ${text}`, files });
  },
  sleep: async () => undefined,
  echo: (interaction) => {
    const [text, size] = ['text', 'size'].map((name) => interaction.options.getString(name));
    return interaction.reply(`${text} (${size})`);
  },
};

/** Logs a bot in that uses what a bot can show: forms, menus, buttons, files, edits, new layouts. */
export async function logInShowcase(discord: Discord): Promise<Client<true>> {
  const client = await logIn(discord);
  client.on(Events.InteractionCreate, (interaction) => void answer(interaction));
  await client.application.commands.set(COMMANDS as never);
  return client;
}
