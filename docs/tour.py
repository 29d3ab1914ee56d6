"""One step of a training program, from the call to the result: python docs/tour.py

Every stage is printed as it is in docs/architecture.md. The program is four lines long.
"""

import numpy as np

import weft as tf
from weft.passes.pipeline import prepare
from weft.runtime.debug.dump import text
from weft.runtime.plan import Plan
from weft.runtime.resources import ResourceStore
from weft.runtime.xla.region import Region


def chapter(title: str) -> None:
    print(f"\n== {title} " + "=" * (76 - len(title)))


def stage(name: str, graph) -> None:
    """What `prepare` shows: the graph of the step after a pass."""
    chapter(f"{name}: {len(graph.nodes)} nodes")
    print("\n".join(text(graph).splitlines()[:8]) + "\n  ...")


chapter("the program builds a graph; nothing is computed")
x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer(), use_resource=True)
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
operations = tf.get_default_graph().get_operations()
print(f"{len(operations)} operations; the last: {operations[-1].name}, a {operations[-1].type}")
print("an operation knows the line that made it:", loss.op.traceback[-1][:2])

# Pruned to what the fetches need, loops folded into nodes, optimized.
(part,) = prepare([x], [loss], [train], observe=stage)

chapter("a plan: units of nodes, a slot for every edge")
store = ResourceStore(None)
plan = Plan(part.graph, store)
for unit in plan.ready().units:
    kind = "a region, for XLA" if isinstance(unit, Region) else "host nodes"
    print(f"{kind}: {', '.join(item.node.name for item in unit.nodes)}"[:96])
print(
    f"{len(plan.slots)} slots; feeds go to {plan.feed_slots}, fetches come from {plan.fetch_slots}"
)

chapter("the store holds the variable; an initializer is a step like any other")
(begin,) = prepare([], [], [w.initializer])
Plan(begin.graph, store).run([])
print({name: value.value for _, _, name, value in store})

chapter("three steps: interpreted at once, then compiled (were it tiny, it would not be)")
batch = np.linspace(0, 3, 30_000, dtype=np.float32).reshape(-1, 3)
for step in range(3):
    (found,) = plan.run([batch])
    (region,) = plan.ready().units
    how = "compiled" if region.has_program else "interpreted"
    print(f"step {step}: loss {float(found):9.3f}, {how}")
print("the whole step is one call of one program:", plan.direct is not None)

chapter("the session does all of this in `run`")
with tf.Session() as session:
    session.run(w.initializer)
    print([float(session.run([loss, train], {x: batch})[0]) for _ in range(3)])
