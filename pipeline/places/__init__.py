"""Where units of work are made: in this process, in processes of one thread each, or by the workers of a Dask cluster.

A stage that takes long cuts its work into units, each of which makes the same arrays wherever and whenever it is made,
and says by a `Work` how one is made. A `Place` makes them; the stage writes each as it arrives. So a run on a cluster
leaves the same files as one without, and either can go on where the other stopped.
"""
