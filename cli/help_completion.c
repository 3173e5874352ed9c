/* Generates the completion for bash: words of commands, options, and values of options that are names. */
#include "cli/command.h"

#include "base/buf.h"
#include "determinism/orders.h"
#include "emu/gpu.h"
#include "suites/suite.h"

#include <ctype.h>
#include <string.h>

static const char head[] =
    "# Completion of heddle's commands and options for bash.\n"
    "# Made by 'make man' from the tables of the commands (cli/, session/settings.def).\n";

/* Words behind $cur are split at '=' and ':' (COMP_WORDBREAKS): --gpu=v100 is three words. */
static const char tail[] =
    "_heddle()\n"
    "{\n"
    "    local -a typed=(\"${COMP_WORDS[@]}\")\n"
    "    local at=$COMP_CWORD help= words\n"
    "    if [ \"${typed[1]}\" = help ] && [ \"$at\" -gt 1 ]; then\n"
    "        typed=(\"${typed[@]:1}\") at=$((at - 1)) help=1\n"
    "    fi\n"
    "    local cur=${typed[at]} prev=${typed[at-1]} command=${typed[1]}\n"
    "    COMPREPLY=()\n"
    "    if [ \"$at\" -eq 1 ]; then\n"
    "        words=$(_heddle_words)\n"
    "        [ \"$help\" ] || words=\"$words help --help --version\"\n"
    "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    words=$(_heddle_words \"$command\")\n"
    "    if [ \"$words\" ]; then\n"
    "        if [ \"$at\" -eq 2 ]; then\n"
    "            COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "            return\n"
    "        fi\n"
    "        command=\"$command ${typed[2]}\"\n"
    "    fi\n"
    "    [ \"$help\" ] && return\n"
    "    [ \"$cur\" = = ] && cur= || { [ \"$prev\" = = ] && prev=${typed[at-2]}; }\n"
    "    if [ \"$cur\" = : ] && [ \"$prev\" = suite ]; then cur= prev=:; fi\n"
    "    if [ \"$prev\" = : ] && [[ \" ${typed[*]} \" == *' suite :'* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$_heddle_workloads\" -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    case $prev in\n"
    "    --*)\n"
    "        words=$(_heddle_values \"$command\" \"$prev\") && {\n"
    "            [ \"$words\" = FILE ] && COMPREPLY=($(compgen -f -- \"$cur\")) ||\n"
    "                COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "            return\n"
    "        };;\n"
    "    esac\n"
    "    case $cur in\n"
    "    -*) COMPREPLY=($(compgen -W \"$(_heddle_options \"$command\")\" -- \"$cur\"));;\n"
    "    *)\n"
    "        case $command in\n"
    "        'suite run' | measure) COMPREPLY=($(compgen -W \"$_heddle_workloads\" -- \"$cur\"));;\n"
    "        orders) COMPREPLY=($(compgen -W \"$_heddle_orders\" -- \"$cur\"));;\n"
    "        gpus) COMPREPLY=($(compgen -W \"$_heddle_gpus\" -- \"$cur\") $(compgen -f -- \"$cur\"));;\n"
    "        *) COMPREPLY=($(compgen -f -- \"$cur\"));;\n"
    "        esac;;\n"
    "    esac\n"
    "}\n"
    "complete -o filenames -F _heddle heddle\n";

/* "ptx check": the first words of all commands, or the second ones of a family. */
static void words(struct buf *out)
{
    const struct command *c;
    const char *before = "";
    buf_puts(out,
             "_heddle_words() # [the first word of a command]\n{\n    case $1 in\n    '') echo \"");
    for (size_t i = 0; (c = command_at(i)); i++) {
        const size_t n = strcspn(c->name, " ");
        if (strcspn(before, " ") == n && strncmp(before, c->name, n) == 0) continue;
        buf_printf(out, "%s%.*s", *before ? " " : "", (int)n, c->name);
        before = c->name;
    }
    buf_puts(out, "\";;\n");
    for (size_t i = 0; (c = command_at(i)); i++) {
        const char *second = strchr(c->name, ' ');
        const size_t n = strcspn(c->name, " ");
        const bool begins = i && strncmp(command_at(i - 1)->name, c->name, n + 1) == 0;
        if (!second) continue;
        if (begins) buf_puts(out, second);
        else buf_printf(out, "    %.*s) echo \"%s", (int)n, c->name, second + 1);
        const struct command *next = command_at(i + 1);
        if (!next || strncmp(next->name, c->name, n + 1) != 0) buf_puts(out, "\";;\n");
    }
    buf_puts(out, "    esac\n}\n");
}

static bool has(const struct command *c, const char *name)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].name, name) == 0) return true;
    return false;
}

static bool inherits(const struct command *c, const struct command_option *o)
{
    return !has(c, o->name) && !(c == &command_check && o->one_run);
}

static void options(struct buf *out)
{
    const struct command *c;
    buf_puts(out, "_heddle_options() # COMMAND\n{\n    case $1 in\n");
    for (size_t i = 0; (c = command_at(i)); i++) {
        buf_printf(out, "    '%s') echo \"", c->name);
        for (size_t k = 0; k < c->option_count; k++) buf_printf(out, "--%s ", c->options[k].name);
        for (size_t k = 0; c->also && k < c->also->option_count; k++)
            if (inherits(c, &c->also->options[k]))
                buf_printf(out, "--%s ", c->also->options[k].name);
        buf_puts(out, "--help\";;\n");
    }
    buf_puts(out, "    esac\n}\n");
}

/* "stack|its": words that can be completed. */
static bool is_choice(const char *argument)
{
    for (const char *p = argument; *p; p++)
        if (!islower((unsigned char)*p) && *p != '|') return false;
    return strchr(argument, '|') != NULL;
}

static void value(struct buf *out, const struct command_option *o)
{
    if (strcmp(o->name, "gpu") == 0) buf_puts(out, "$_heddle_gpus");
    else if (strcmp(o->name, "order") == 0) buf_puts(out, "$_heddle_orders");
    else if (strcmp(o->name, "check") == 0)
        buf_puts(out, "memory init sync bounds race atomicity api all");
    else if (is_choice(o->argument))
        for (const char *p = o->argument; *p; p++) buf_putc(out, *p == '|' ? ' ' : *p);
    else if (strstr(o->argument, "FILE")) buf_puts(out, "FILE");
}

static void values_of(struct buf *out, const struct command *c, const struct command *of)
{
    for (size_t i = 0; i < of->option_count; i++) {
        const struct command_option o = command_option_full(&of->options[i]);
        if (!o.argument || (of != c && !inherits(c, &o))) continue;
        buf_printf(out, "    '%s --%s') echo \"", c->name, o.name);
        value(out, &o);
        buf_puts(out, "\";;\n");
    }
}

/* Fails for an option without a value. */
static void values(struct buf *out)
{
    const struct command *c;
    buf_puts(out, "_heddle_values() # COMMAND --OPTION\n{\n    case \"$1 $2\" in\n");
    for (size_t i = 0; (c = command_at(i)); i++) {
        values_of(out, c, c);
        if (c->also) values_of(out, c, c->also);
    }
    buf_puts(out, "    *) return 1;;\n    esac\n}\n");
}

void help_completion(struct buf *out)
{
    buf_puts(out, head);
    buf_puts(out, "_heddle_gpus=\"");
    for (size_t i = 0; i < emu_gpu_count(); i++)
        buf_printf(out, "%s%s", i ? " " : "", emu_gpu_at(i)->name);
    buf_puts(out, "\"\n_heddle_orders=\"");
    for (size_t i = 0; order_kind_at(i); i++)
        buf_printf(out, "%s%s", i ? " " : "", order_kind_at(i)->name);
    buf_puts(out, "\"\n_heddle_workloads=\"");
    for (size_t i = 0; i < suite_count(); i++)
        buf_printf(out, "%s%s", i ? " " : "", suite_at(i)->name);
    buf_puts(out, "\"\n");
    words(out);
    options(out);
    values(out);
    buf_puts(out, tail);
}
