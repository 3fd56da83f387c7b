// Core.cs - the handle of a filter, and the gate that every call on it goes through.
//
// The library lets any number of threads query a filter as long as none changes it. Core sees to
// that: any number of calls that query, or one that changes; others wait. Closing is a change that
// is never over: it waits for the calls at work, and those that come later are refused. As the
// gate is a member of the handle and a call leaves through it, the garbage collector cannot free
// the filter during a call.
//
// `state` counts the queries at work; a change at work takes Change from it. Without waiting, that
// is one atomic operation to enter and one to leave. Who must wait counts itself in `waiters` with
// the monitor held, tries again, and sleeps; who leaves looks for waiters after its own atomic
// operation, so none sleeps through it. A waiting change goes before new queries, or it might wait
// for good.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;

namespace Petal
{
    internal sealed class Core : SafeHandle
    {
        private const int Change = 1 << 30;

        private int state;
        private volatile int waiters, waitingChanges; // written with the monitor held
        private volatile bool closed, shared;
        private readonly object monitor = new object();
        private readonly bool grows;
        private long pressure, uncounted; // changed by who changes the filter

        [ThreadStatic]
        private static List<Core> written; // to streams, by this thread, now

        private GCHandle viewed; // the array of a view, which stays where it is

        internal Core(IntPtr filter, ulong bytes, bool grows, GCHandle viewed)
            : base(IntPtr.Zero, true)
        {
            Count(bytes);
            this.grows = grows;
            this.viewed = viewed;
            SetHandle(filter); // from here on it frees the filter: nothing may throw
        }

        // The collector is told how much memory the filter takes.
        private void Count(ulong bytes)
        {
            long now = bytes < long.MaxValue ? (long)bytes : 0;
            if (now != pressure)
                Pressure.Change(now - pressure);
            pressure = now;
        }

        internal IntPtr Filter => handle;
        internal bool Closed => closed;

        internal void CheckOpen()
        {
            if (closed)
                throw Failure.Closed();
        }

        public override bool IsInvalid => handle == IntPtr.Zero;

        protected override bool ReleaseHandle()
        {
            Native.petal_free(handle);
            if (viewed.IsAllocated)
                viewed.Free();
            Count(0);
            return true;
        }

        // ---- queries ----

        internal void EnterQuery()
        {
            if (waitingChanges == 0)
            {
                if (Interlocked.Increment(ref state) > 0)
                    return;
                LeaveQuery();
            }
            WaitForQuery();
        }

        internal void LeaveQuery()
        {
            Interlocked.Decrement(ref state);
            if (waiters != 0)
                Wake();
        }

        private bool TryQuery(bool mine)
        {
            if (closed)
                throw Failure.Closed();
            if (waitingChanges > 0 && !mine)
                return false;
            if (Interlocked.Increment(ref state) > 0)
                return true;
            LeaveQuery();
            return false;
        }

        private void WaitForQuery()
        {
            bool mine = IsWritten();
            lock (monitor)
            {
                waiters++;
                Interlocked.MemoryBarrier();
                try
                {
                    while (!TryQuery(mine))
                    {
                        if (mine)
                            throw Failure.InUse();
                        Monitor.Wait(monitor);
                    }
                }
                finally
                {
                    waiters--;
                }
            }
        }

        // ---- changes ----

        internal void EnterChange()
        {
            if (Interlocked.CompareExchange(ref state, -Change, 0) != 0)
                WaitForChange();
        }

        internal void LeaveChange()
        {
            Interlocked.Add(ref state, Change);
            if (waiters != 0)
                Wake();
        }

        private void WaitForChange()
        {
            if (IsWritten())
                throw Failure.InUse();
            lock (monitor)
            {
                waiters++;
                waitingChanges++;
                Interlocked.MemoryBarrier();
                try
                {
                    while (Interlocked.CompareExchange(ref state, -Change, 0) != 0)
                    {
                        if (closed)
                            throw Failure.Closed();
                        Monitor.Wait(monitor);
                    }
                }
                finally
                {
                    waiters--;
                    waitingChanges--;
                }
            }
        }

        private void Wake()
        {
            lock (monitor) Monitor.PulseAll(monitor);
        }

        // ---- adding, and everything else that reads ----
        //
        // Once a filter is shared, any number of threads may add and query at once, but whatever
        // else reads it needs the adding to be over. True: entered as a change.

        internal bool EnterAdd()
        {
            if (shared)
                EnterQuery();
            else
                EnterChange();
            return !shared;
        }

        internal bool EnterRead()
        {
            if (!shared)
            {
                EnterQuery();
                if (!shared)
                    return false;
                LeaveQuery(); // shared meanwhile
            }
            EnterChange();
            return true;
        }

        internal void Leave(bool asChange)
        {
            if (asChange)
                LeaveChange();
            else
                LeaveQuery();
        }

        // After adding so many keys. A filter that grows has allocated meanwhile.
        internal unsafe void LeaveAdded(bool asChange, long keys)
        {
            const int LayerKeys = 1024;
            if (grows && asChange && (uncounted += keys) >= LayerKeys)
            {
                uncounted = 0;
                NativeInfo info = new NativeInfo();
                info.Size = (uint)sizeof(NativeInfo);
                if (Native.petal_get_info(handle, Native.AllLayers, &info, null) >= 0)
                    Count(info.MemoryBytes);
            }
            Leave(asChange);
        }

        internal void SetShared()
        {
            shared = true;
        }

        // ---- two filters ----
        //
        // Who has one and must wait for the other gives it back meanwhile, so that two threads with
        // the same filters in turn don't wait for each other.

        internal static bool EnterTwo(Core first, Core second, bool change)
        {
            for (;;)
            {
                bool asChange = change || first.EnterRead();
                if (change)
                    first.EnterChange();
                if (ReferenceEquals(first, second))
                    return asChange;
                bool entered = false;
                try
                {
                    entered = second.TryRead();
                }
                finally
                {
                    if (!entered)
                        first.Leave(asChange);
                }
                if (entered)
                    return asChange;
                second.Leave(second.EnterRead());
            }
        }

        internal static void LeaveTwo(Core first, Core second, bool asChange)
        {
            first.Leave(asChange);
            if (!ReferenceEquals(first, second))
                second.Leave(second.shared);
        }

        private bool TryRead()
        {
            if (!shared)
            {
                if (!TryQuery(false))
                    return false;
                if (!shared)
                    return true;
                LeaveQuery();
            }
            if (closed)
                throw Failure.Closed();
            return Interlocked.CompareExchange(ref state, -Change, 0) == 0;
        }

        // ---- streams that call back ----

        internal void BeginWriting()
        {
            if (written == null)
                written = new List<Core>();
            written.Add(this);
        }

        internal void EndWriting()
        {
            written.Remove(this);
        }

        private bool IsWritten() => written != null && written.Contains(this);

        // ---- the end ----

        // Waits for the calls at work. A writable map is synced first, and what fails there is
        // thrown once the filter is closed.
        internal unsafe void Close(string path)
        {
            if (closed)
                return;
            try
            {
                EnterChange();
            }
            catch (ObjectDisposedException) // by another thread, meanwhile
            {
                return;
            }
            NativeError error;
            int status = Native.petal_sync(handle, &error);
            closed = true;
            Wake();
            Dispose();
            if (status < 0)
                throw Failure.Of(&error, path);
        }
    }

    // Bounds the memory of filters that nobody disposes of. The garbage collector is told how much
    // all filters take, but that is not enough: on a busy machine its finalizers fall behind, and
    // Mono's collector pays no attention. So whoever takes the bytes above a limit waits for the
    // finalizers, and collects if that has freed too little. The limit is then set to twice what
    // is in use.
    internal static class Pressure
    {
        private const long Least = 64 << 20;

        private static long used, limit = Least;

        internal static void Change(long bytes)
        {
            if (bytes < 0)
                GC.RemoveMemoryPressure(-bytes);
            else
                GC.AddMemoryPressure(bytes);
            Count(Interlocked.Add(ref used, bytes), bytes < 0);
        }

        private static void Count(long now, bool freed)
        {
            long most = Interlocked.Read(ref limit);
            // After a peak the limit comes down, a little with each filter that is freed.
            if (freed && now < most / 4)
                Interlocked.Exchange(ref limit, Math.Max(Least, most - most / 16));
            if (freed || now <= most)
                return;
            GC.WaitForPendingFinalizers();
            if (Interlocked.Read(ref used) <= most)
                return;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Interlocked.Exchange(ref limit, Math.Max(Least, 2 * Interlocked.Read(ref used)));
        }
    }
}
