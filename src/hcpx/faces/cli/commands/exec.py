"""`hcpx exec` beside the other commands: help and completion; its grammar is its own (decision 0001)."""

from __future__ import annotations

import sys

import click

from hcpx.faces.cli.exec_command import main
from hcpx.faces.cli.exec_line import FLAGS, USAGE, VALUED


class _Exec(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            ctx.args = args
            return args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> int:
        # click has written nothing so far, but what it holds back must come first.
        sys.stdout.flush()
        return main(["exec", *ctx.args])

    def get_help(self, ctx: click.Context) -> str:
        del ctx
        return USAGE


exec_ = _Exec(
    "exec",
    params=[
        click.Argument(["pack"], required=False),
        click.Argument(["verb"], required=False),
        *(click.Option([name]) for name in VALUED),
        *(click.Option([name], is_flag=True) for name in FLAGS if name != "--help"),
    ],
)
